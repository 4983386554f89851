"""How long a round of visits takes, and how many fetches at once it needs."""
