"""When somebody speaks next in a thread: what posts tell, the models of Tan (2012), and our own."""
