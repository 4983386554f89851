"""What a budget buys: expected measures from forecasts alone, without replaying anything."""
