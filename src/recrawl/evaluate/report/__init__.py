"""What was found out, for people: tables, drawings, and one page that holds all of it."""
