variable "name" {
  description = "Name of the node pool. Lower case, at most 40 characters."
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
  description = "How nodes are started: on_demand (also under committed use, which bills by itself), spot, reservation or calendar (in a reservation that is there), or flex_start (when there is room, while pods need them)."
  type        = string
  default     = "on_demand"
  nullable    = false

  validation {
    condition     = contains(["on_demand", "spot", "reservation", "calendar", "flex_start"], var.purchase_option)
    error_message = "purchase_option is on_demand, spot, reservation, calendar or flex_start."
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

variable "gang_nodes" {
  description = "Nodes that one job needs at once; above 1 they are placed and joined so that jobs can span them."
  type        = number
  default     = 1
  nullable    = false

  validation {
    condition     = var.gang_nodes >= 1 && floor(var.gang_nodes) == var.gang_nodes
    error_message = "gang_nodes is a whole number of nodes, 1 or more."
  }
}

variable "max_node_count" {
  description = "Upper limit of the pool for whoever scales it; null keeps it at the most of node_count, schedule and week."
  type        = number
  default     = null
}

variable "scale_to_zero" {
  description = "Whether the cluster's autoscaler starts nodes while pods need them, up to the most that are planned, and stops them after."
  type        = bool
  default     = false
  nullable    = false
}

variable "cluster_id" {
  description = "Cluster that is there already, as projects/P/locations/L/clusters/C. Its Workload Identity must be on."
  type        = string

  validation {
    condition     = can(regex("^projects/[^/]+/locations/[^/]+/clusters/[^/]+$", var.cluster_id))
    error_message = "cluster_id is projects/P/locations/L/clusters/C."
  }
}

variable "zone" {
  description = "Zone that offers the machine, such as us-central1-a."
  type        = string

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+-[a-z]$", var.zone))
    error_message = "zone is a zone such as us-central1-a."
  }
}

variable "machine_type" {
  description = "Machine type, such as a2-highgpu-1g, n1-standard-8 or ct6e-standard-4t."
  type        = string

  validation {
    condition     = can(regex("^[a-z0-9]+-[a-z0-9-]+$", var.machine_type))
    error_message = "machine_type is a machine type such as a2-highgpu-1g."
  }
}

variable "accelerator_type" {
  description = "Accelerator to attach to an N1 machine, such as nvidia-tesla-t4; null for machine types that bring theirs."
  type        = string
  default     = null
}

variable "accelerator_count" {
  description = "Accelerators to attach to each N1 machine."
  type        = number
  default     = 1
  nullable    = false

  validation {
    condition     = contains([1, 2, 4, 8], var.accelerator_count)
    error_message = "accelerator_count is 1, 2, 4 or 8."
  }
}

variable "gpu_driver_version" {
  description = "NVIDIA driver that GKE installs: DEFAULT or LATEST for the node's version, or INSTALLATION_DISABLED to bring one."
  type        = string
  default     = "DEFAULT"
  nullable    = false

  validation {
    condition     = contains(["DEFAULT", "LATEST", "INSTALLATION_DISABLED"], var.gpu_driver_version)
    error_message = "gpu_driver_version is DEFAULT, LATEST or INSTALLATION_DISABLED."
  }
}

variable "tpu_topology" {
  description = "Arrangement of a TPU slice's chips over all nodes of the pool, such as 4x4; null where each node is a slice by itself."
  type        = string
  default     = null

  validation {
    condition     = var.tpu_topology == null || can(regex("^[0-9]+x[0-9]+(x[0-9]+)?$", var.tpu_topology))
    error_message = "tpu_topology is two or three sides in chips, such as 4x4 or 2x2x2."
  }
}

variable "queued" {
  description = "Whether nodes wait for Dynamic Workload Scheduler (queued provisioning, flex start): node_count is then the most at once."
  type        = bool
  default     = false
  nullable    = false
}

variable "gpu_address_space" {
  description = "Address range, /16 or larger, of the networks between accelerators, where jobs span nodes; it must not overlap the first subnetwork."
  type        = string
  default     = "172.20.0.0/16"
  nullable    = false

  validation {
    condition     = can(cidrsubnet(var.gpu_address_space, 4, 15))
    error_message = "gpu_address_space is a range in CIDR notation."
  }
}

variable "compact_placement" {
  description = "Whether nodes lie close together, for traffic between them; null is where jobs span nodes outside of a reservation."
  type        = bool
  default     = null
}

variable "reservation" {
  description = "Reservation that nodes start in: its name, or projects/P/reservations/R of another project; null for none."
  type        = string
  default     = null
}

variable "taints" {
  description = "Further taints: key, value, and effect (NO_SCHEDULE, PREFER_NO_SCHEDULE or NO_EXECUTE)."
  type        = list(object({ key = string, value = string, effect = string }))
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for taint in var.taints : contains(["NO_SCHEDULE", "PREFER_NO_SCHEDULE", "NO_EXECUTE"], taint.effect)])
    error_message = "taints have the effect NO_SCHEDULE, PREFER_NO_SCHEDULE or NO_EXECUTE."
  }
}

variable "boot_disk_type" {
  description = "Type of the boot disk; A3 Ultra, A4, G4 and TPU7x machines take hyperdisk-balanced only."
  type        = string
  default     = "pd-balanced"
  nullable    = false

  validation {
    condition     = contains(["pd-balanced", "pd-ssd", "hyperdisk-balanced"], var.boot_disk_type)
    error_message = "boot_disk_type is pd-balanced, pd-ssd or hyperdisk-balanced."
  }
}

variable "boot_disk_gb" {
  description = "Size of the boot disk in GB."
  type        = number
  default     = 200
  nullable    = false

  validation {
    condition     = var.boot_disk_gb >= 50 && var.boot_disk_gb <= 65536
    error_message = "boot_disk_gb is between 50 and 65536."
  }
}

variable "local_ssd_count" {
  description = "Local SSDs that hold what pods write beside volumes; null is all that the machine type brings."
  type        = number
  default     = null
}

variable "kms_key" {
  description = "Key that encrypts the disks, as projects/P/locations/R/keyRings/K/cryptoKeys/C; null is Google's own."
  type        = string
  default     = null
}

variable "service_account_email" {
  description = "Service account of the nodes; null is the project's default account, which has more rights than nodes need."
  type        = string
  default     = null
}

variable "secure_boot" {
  description = "Whether nodes boot signed code only; the drivers that GKE installs are signed."
  type        = bool
  default     = true
  nullable    = false
}
