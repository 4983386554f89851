"""The experiment of Tan (2012): visiting threads just after somebody spoke."""
