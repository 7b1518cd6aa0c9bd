"""Planning from Python (what `import planner` gives), and the files that Python and the command line read and write."""
