variable "name" {
  description = "Name of the pool; the node pool is named after it. Lower case, at most 40 characters."
  type        = string

  validation {
    condition     = can(regex("^[a-z][-a-z0-9]{0,38}[a-z0-9]$", var.name))
    error_message = "name is 2 to 40 lower-case letters, digits and hyphens, starting with a letter and not ending in a hyphen."
  }
}

variable "plan_id" {
  description = "Plan that this pool belongs to; becomes the tag plan."
  type        = string
}

variable "workloads" {
  description = "Workloads that the plan puts on this pool; become the tag workloads."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "teams" {
  description = "Teams that own these workloads; become the tag team."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "tags" {
  description = "Further tags on everything that is created; a character that Azure does not take becomes an underscore."
  type        = map(string)
  default     = {}
  nullable    = false
}

variable "purchase_option" {
  description = "How nodes are paid for: on_demand (also under reservations and savings plans, which bill by themselves) or spot."
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
    condition     = var.node_count >= 0 && var.node_count <= 1000 && floor(var.node_count) == var.node_count
    error_message = "node_count is a whole number of nodes from 0 to 1000, the most that a node pool holds."
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

variable "vm_size" {
  description = "Size of the virtual machines, such as Standard_NC24ads_A100_v4."
  type        = string

  validation {
    condition     = can(regex("^Standard_[A-Za-z0-9_]+$", var.vm_size))
    error_message = "vm_size starts with Standard_."
  }
}

variable "kubernetes_cluster_id" {
  description = "Existing AKS cluster that the nodes join."
  type        = string

  validation {
    condition     = can(regex("/managedClusters/[^/]+$", var.kubernetes_cluster_id))
    error_message = "kubernetes_cluster_id is the resource id of an AKS cluster."
  }
}

variable "zones" {
  description = "Availability zones to spread over; empty leaves the choice to the region."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "subnet_id" {
  description = "Subnet of the nodes; null is that of the cluster."
  type        = string
  default     = null
}

variable "eviction_policy" {
  description = "What happens to a spot node that is taken back: Delete (nothing more is paid) or Deallocate (its disk is kept and paid)."
  type        = string
  default     = "Delete"
  nullable    = false

  validation {
    condition     = contains(["Delete", "Deallocate"], var.eviction_policy)
    error_message = "eviction_policy is Delete or Deallocate."
  }
}

variable "spot_max_price" {
  description = "Most to pay for a spot node in USD an hour; -1 is the on-demand price, so that nodes are not taken back for their price."
  type        = number
  default     = -1
  nullable    = false

  validation {
    condition     = var.spot_max_price == -1 || var.spot_max_price > 0
    error_message = "spot_max_price is above 0, or -1."
  }
}

variable "capacity_reservation_group_id" {
  description = "Existing capacity reservation group whose capacity the nodes use."
  type        = string
  default     = null
}

variable "gpu_driver" {
  description = "Whether AKS installs the NVIDIA driver: Install, or None where the NVIDIA or AMD GPU operator does."
  type        = string
  default     = "Install"
  nullable    = false

  validation {
    condition     = contains(["Install", "None"], var.gpu_driver)
    error_message = "gpu_driver is Install or None."
  }
}

variable "node_labels" {
  description = "Further labels on the nodes."
  type        = map(string)
  default     = {}
  nullable    = false
}

variable "node_taints" {
  description = "Taints on the nodes, which keep other pods away; pods need a toleration for each."
  type        = list(string)
  default     = ["sku=gpu:NoSchedule"]
  nullable    = false

  validation {
    condition     = alltrue([for taint in var.node_taints : can(regex("^[^=]+=[^:]*:(NoSchedule|PreferNoSchedule|NoExecute)$", taint))])
    error_message = "node_taints are key=value:NoSchedule, PreferNoSchedule or NoExecute."
  }
}

variable "os_disk_gib" {
  description = "Size of the system disk in GiB."
  type        = number
  default     = 256
  nullable    = false

  validation {
    condition     = var.os_disk_gib >= 30 && var.os_disk_gib <= 4095
    error_message = "os_disk_gib is between 30 and 4095."
  }
}

variable "encryption_at_host_enabled" {
  description = "Whether temporary disks and caches are encrypted too; the subscription must have the feature EncryptionAtHost registered."
  type        = bool
  default     = true
  nullable    = false
}
