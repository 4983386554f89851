"""The experiment of Radinsky and Bennett (2013): what content and kin foretell of changes."""
