"""What each command does, in a line of the help.

They are apart from the commands, so that the list of all commands loads none of them.
"""

SUMMARIES = {
    "advise": "Shortlist cards, workstations, servers and cloud types for described work.",
    "audit": "List who did what with the service.",
    "check": "Check whether files can be planned, without planning them.",
    "ci": "Plan the changed files of a pull or merge request, and comment the difference.",
    "cloud": "Add your own clouds: create one, check it, list them.",
    "completion": "Complete commands and options in your shell.",
    "db": "Upgrade, back up, prune and look into the store of a service.",
    "diff": "Explain why one plan costs more or less than another.",
    "doctor": "Check this installation.",
    "drift": "Explain how a bill or measured use left a plan.",
    "estimate": "Plan the workloads of a spreadsheet, a YAML or a JSON file.",
    "init": "Write a request by answering six questions.",
    "key": "Create, list and revoke API keys of the service.",
    "measure": "Run and measure a job: rate, energy, bottleneck.",
    "memory": "Estimate the accelerator memory that a model needs, and the smallest count it fits on.",
    "negotiate": "Tell which price of which vendor would change the plan's choice.",
    "offers": "List offerings with price, source and date.",
    "prices": "Refresh, import and compare prices; show their age and coverage.",
    "quota": "Read the quotas of your accounts, for plans to respect.",
    "schema": "Print the JSON Schema of a request, for editors.",
    "serve": "Serve plans and offers over HTTP.",
    "serving": "Size the replicas of a served language model on every accelerator.",
    "study": "Work published cost examples again, and tell their full cost.",
    "template": "Write an empty workbook to fill in.",
    "terraform": "Write Terraform that provisions a plan.",
    "throughput": "Estimate throughput on every accelerator, with intervals, and what to measure next.",
    "usage": "Read bills or measured use: the accelerators in use and what they cost.",
    "version": "Print the version.",
    "worker": "Make plans that a service has queued.",
}
