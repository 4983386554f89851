"""recrawl decides when to look again."""

__version__ = "0.1.0"

__all__ = ["__version__"]
