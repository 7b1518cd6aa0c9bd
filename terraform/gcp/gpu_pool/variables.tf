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
  description = "How nodes are started: on_demand (also under committed use, which bills by itself), spot, reservation (in one that is there), calendar (bound to a reservation of dated days) or flex_start (all at once when there is room, for flex_start_hours)."
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

variable "project" {
  description = "Project that everything is created in."
  type        = string

  validation {
    condition     = can(regex("^([a-z0-9.-]+:)?[a-z][-a-z0-9]{4,28}[a-z0-9]$", var.project))
    error_message = "project is a project id: 6 to 30 lower-case letters, digits and hyphens."
  }
}

variable "region" {
  description = "Region, such as us-central1."
  type        = string

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+$", var.region))
    error_message = "region is a region such as us-central1."
  }
}

variable "zones" {
  description = "Zones of the region that offer the machine: one makes a zonal group, several are spread over; empty lets the region choose."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for zone in var.zones : can(regex("^[a-z]+-[a-z]+[0-9]+-[a-z]$", zone))])
    error_message = "zones holds zones such as us-central1-a."
  }
}

variable "machine_type" {
  description = "Machine type, such as a2-highgpu-1g or n1-standard-8."
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

variable "subnetwork" {
  description = "Subnetwork of the nodes, as a self link or projects/P/regions/R/subnetworks/S. It needs Private Google Access or Cloud NAT."
  type        = string
}

variable "image" {
  description = "Boot image. The default is the current Deep Learning VM image with an NVIDIA 580 driver and CUDA 12.9."
  type        = string
  default     = "projects/deeplearning-platform-release/global/images/family/common-cu129-ubuntu-2204-nvidia-580"
  nullable    = false
}

variable "boot_disk_type" {
  description = "Type of the boot disk; A3 Ultra, A4 and G4 machines take hyperdisk-balanced only."
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

variable "termination_action" {
  description = "What happens to a spot node that is taken back: STOP (its disk is kept and paid, and it starts again) or DELETE."
  type        = string
  default     = "STOP"
  nullable    = false

  validation {
    condition     = contains(["STOP", "DELETE"], var.termination_action)
    error_message = "termination_action is STOP or DELETE."
  }
}

variable "secure_boot" {
  description = "Whether nodes boot signed code only. Off by default: most images carry an NVIDIA driver that is not signed for it."
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
  description = "Whether nodes lie close together, for traffic between them; in one zone only. Null is where jobs span nodes outside of a reservation."
  type        = bool
  default     = null
}

variable "kms_key" {
  description = "Key that encrypts the disks, as projects/P/locations/R/keyRings/K/cryptoKeys/C; null is Google's own."
  type        = string
  default     = null
}

variable "service_account_email" {
  description = "Service account of the nodes; null gives them no rights."
  type        = string
  default     = null
}

variable "health_check" {
  description = "Health check (self link) that says whether a node is well, such as one of a DCGM exporter; a group replaces nodes that fail it. Null replaces only those that stop."
  type        = string
  default     = null
}

variable "startup_script" {
  description = "Script run at every boot; null for none."
  type        = string
  default     = null
}

variable "container_image" {
  description = "Image that every node runs with all its GPUs; null for none. From a private registry it needs service_account_email."
  type        = string
  default     = null
}

variable "container_command" {
  description = "Command and arguments for the container; empty is what its image says."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "cuda_line" {
  description = "CUDA line for the accelerator, such as 12.8: an image built for a newer one is warned of in the journal. Null for no check."
  type        = string
  default     = null

  validation {
    condition     = var.cuda_line == null || can(regex("^\\d+\\.\\d+$", var.cuda_line))
    error_message = "cuda_line is a line such as 12.8."
  }
}

variable "reservation" {
  description = "Reservation that nodes start in: its name, or projects/P/reservations/R of another project; null for none."
  type        = string
  default     = null
}

variable "reserve_capacity" {
  description = "Whether to reserve nodes in the one zone: paid like running ones from the apply on, used or not."
  type        = bool
  default     = false
  nullable    = false
}

variable "reserved_node_count" {
  description = "Nodes that reserve_capacity and buy_commitment hold; null is node_count."
  type        = number
  default     = null

  validation {
    condition     = try(var.reserved_node_count >= 1 && floor(var.reserved_node_count) == var.reserved_node_count, var.reserved_node_count == null)
    error_message = "reserved_node_count is a whole number of nodes, 1 or more."
  }
}

variable "buy_commitment" {
  description = "Whether to buy a commitment for the reserved nodes: owed for years, and never taken back."
  type        = bool
  default     = false
  nullable    = false
}

variable "commitment_years" {
  description = "Years of the commitment that buy_commitment buys: 1 or 3."
  type        = number
  default     = 1
  nullable    = false

  validation {
    condition     = contains([1, 3], var.commitment_years)
    error_message = "commitment_years is 1 or 3."
  }
}

variable "flex_start_hours" {
  description = "Hours that nodes of flex_start run for."
  type        = number
  default     = 168
  nullable    = false

  validation {
    condition     = var.flex_start_hours >= 1 / 6 && var.flex_start_hours <= 168
    error_message = "flex_start_hours is between 10 minutes (0.17) and 168."
  }
}
