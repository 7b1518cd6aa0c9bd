variable "name" {
  description = "Name of the pool; every resource is named after it. Lower case, at most 40 characters."
  type        = string

  validation {
    condition     = can(regex("^[a-z][-a-z0-9]{0,38}[a-z0-9]$", var.name))
    error_message = "name is 2 to 40 lower-case letters, digits and hyphens, starting with a letter and not ending in a hyphen."
  }
}

variable "plan_id" {
  description = "Plan that this pool belongs to; becomes the label plan."
  type        = string
}

variable "workloads" {
  description = "Workloads that the plan puts on this pool; become the label workloads."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "teams" {
  description = "Teams that own these workloads; become the label team."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "tags" {
  description = "Further labels on everything that is created; a character that Google does not take becomes a hyphen."
  type        = map(string)
  default     = {}
  nullable    = false
}

variable "purchase_option" {
  description = "How nodes are paid for: on_demand (also under committed use, which bills by itself) or spot."
  type        = string
  default     = "on_demand"
  nullable    = false

  validation {
    condition     = contains(["on_demand", "spot"], var.purchase_option)
    error_message = "purchase_option is on_demand or spot."
  }
}

variable "node_count" {
  description = "Nodes to keep running; with a schedule, before its first time, and then at most those that it begins with if it has more later."
  type        = number

  validation {
    condition     = var.node_count >= 0 && floor(var.node_count) == var.node_count
    error_message = "node_count is a whole number of nodes, 0 or more."
  }
}

variable "schedule" {
  description = "Nodes from a time on (2027-03-01T00:00:00Z); empty leaves them at node_count. Rows that have begun decide at an apply."
  type        = list(object({ start = string, node_count = number }))
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for row in var.schedule : can(regex("^\\d{4}-\\d{2}-\\d{2}T\\d{2}:00:00Z$", row.start)) && can(timeadd(row.start, "0s"))])
    error_message = "schedule has times on the hour such as 2027-03-01T00:00:00Z."
  }

  validation {
    condition     = length(distinct(var.schedule[*].start)) == length(var.schedule)
    error_message = "schedule has each time once."
  }

  validation {
    condition     = alltrue([for row in var.schedule : row.node_count >= 0 && floor(row.node_count) == row.node_count])
    error_message = "schedule has whole numbers of nodes, 0 or more."
  }
}

variable "week" {
  description = "Nodes in the hours of the week (UTC) of a month: from an hour on, for some hours, on days such as MON; empty for the same at all hours."
  type        = list(object({ month = string, days = list(string), hour = number, hours = number, node_count = number }))
  default     = []
  nullable    = false

  validation {
    condition = alltrue([
      for row in var.week :
      can(regex("^\\d{4}-(0[1-9]|1[0-2])$", row.month)) && length(row.days) > 0 &&
      length(setsubtract(row.days, ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"])) == 0
    ])
    error_message = "week has months such as 2027-03 and days from MON to SUN."
  }

  validation {
    condition = alltrue([
      for row in var.week :
      contains(range(24), row.hour) && contains(range(1, 25), row.hours) && row.hour + row.hours <= 24 &&
      row.node_count >= 0 && floor(row.node_count) == row.node_count
    ])
    error_message = "week has hours from 0 to 23 within a day, and whole numbers of nodes, 0 or more."
  }
}

variable "max_node_count" {
  description = "Upper limit of the pool for whoever scales it; null keeps it at the most of node_count, schedule and week."
  type        = number
  default     = null
}

variable "project" {
  description = "Project that everything is created in."
  type        = string

  validation {
    condition     = can(regex("^([a-z0-9.-]+:)?[a-z][-a-z0-9]{4,28}[a-z0-9]$", var.project))
    error_message = "project is a project id: 6 to 30 lower-case letters, digits and hyphens."
  }
}

variable "zone" {
  description = "Zone that offers the accelerator type, such as us-central1-a."
  type        = string

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+-[a-z]$", var.zone))
    error_message = "zone is a zone such as us-central1-a."
  }
}

variable "accelerator_type" {
  description = "TPU slice as the Cloud TPU API names it, such as v5litepod-8. The number counts cores up to v4 and for v5p, chips for v5e and v6e."
  type        = string

  validation {
    condition     = can(regex("^(v2|v3|v4|v5litepod|v5p|v6e)-[0-9]+$", var.accelerator_type))
    error_message = "accelerator_type is v2-, v3-, v4-, v5litepod-, v5p- or v6e- and a number."
  }
}

variable "runtime_version" {
  description = "TPU software version; null takes the common one for the generation."
  type        = string
  default     = null
}

variable "topology" {
  description = "Arrangement of the slice's chips, such as 2x4 or 2x2x4; null is the usual one for accelerator_type."
  type        = string
  default     = null

  validation {
    condition     = var.topology == null || can(regex("^[0-9]+x[0-9]+(x[0-9]+)?$", var.topology))
    error_message = "topology is two or three sides in chips, such as 2x4 or 2x2x4."
  }
}

variable "queued" {
  description = "Whether slices wait in a queue until they can start (queued resources); false fails where there is no room."
  type        = bool
  default     = false
  nullable    = false
}

variable "reserved" {
  description = "Whether slices start in a reservation that the project has."
  type        = bool
  default     = false
  nullable    = false
}

variable "secure_boot" {
  description = "Whether hosts boot signed code only."
  type        = bool
  default     = false
  nullable    = false
}

variable "network" {
  description = "Network of the nodes; null is the project's default network."
  type        = string
  default     = null
}

variable "subnetwork" {
  description = "Subnetwork of the nodes, as a self link or projects/P/regions/R/subnetworks/S. It needs Private Google Access or Cloud NAT."
  type        = string
}

variable "service_account_email" {
  description = "Service account of the nodes; null is the project's default account, as the service demands one."
  type        = string
  default     = null
}

variable "startup_script" {
  description = "Script run at every boot; null for none."
  type        = string
  default     = null
}

variable "container_image" {
  description = "Image that every host of a slice runs with its chips; null for none. From a private registry the service account must read it."
  type        = string
  default     = null
}

variable "container_command" {
  description = "Command and arguments for the container; empty is what its image says."
  type        = list(string)
  default     = []
  nullable    = false
}
