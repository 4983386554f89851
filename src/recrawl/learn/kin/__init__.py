from recrawl.learn.kin.kin import Kin

__all__ = ["Kin"]
