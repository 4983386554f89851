"""The experiment of Barbosa and others (2005): what first sight tells, and what it is good for."""
