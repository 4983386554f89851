"""Foretelling significant change from a page's own content and from its kin.

    task = Task(steps=steps, pages=pages, kin=kin, n_train=50, back=1, ahead=1, group=host, cycles=(7,))
    told = foretold("experts", task, np.arange(task.first, steps.n_steps - 1))
    right = (told.yes == task.outcome[pages][:, told.at])[task.known[pages][:, told.at]].mean()

`told.p` are calibrated probabilities. In a crawl that sees only part of what happens, `steps` is what it has
seen (a page that was not looked at shows what it showed, and did not change), made anew for each day; a
learner that is not to learn more is trained once then (`schooled`), and steps between its examples and what
features reach may be cut out.
"""

from recrawl.learn.experts.learners import LEARNERS, foretold, foretold_by_counts, tuned
from recrawl.learn.experts.schooling import schooled
from recrawl.learn.experts.tasks import Foretold, Task, Tuning

__all__ = ["LEARNERS", "Foretold", "Task", "Tuning", "foretold", "foretold_by_counts", "schooled", "tuned"]
