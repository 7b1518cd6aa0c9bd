variable "name" {
  description = "Name of the pool; every resource is named after it. Lower case, at most 40 characters."
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
    error_message = "node_count is a whole number of nodes from 0 to 1000, the most that a scale set holds."
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

variable "vm_size" {
  description = "Size of the virtual machines, such as Standard_NC24ads_A100_v4."
  type        = string

  validation {
    condition     = can(regex("^Standard_[A-Za-z0-9_]+$", var.vm_size))
    error_message = "vm_size starts with Standard_."
  }
}

variable "location" {
  description = "Region, such as westeurope."
  type        = string

  validation {
    condition     = can(regex("^[a-z0-9]+$", var.location))
    error_message = "location is a region's short name such as westeurope."
  }
}

variable "zones" {
  description = "Availability zones to spread over; empty leaves the choice to the region."
  type        = list(string)
  default     = []
  nullable    = false
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

variable "regular_base" {
  description = "Of the nodes of a spot pool, how many are regular ones, which are not taken back."
  type        = number
  default     = 0
  nullable    = false

  validation {
    condition     = var.regular_base >= 0 && floor(var.regular_base) == var.regular_base
    error_message = "regular_base is a whole number of nodes, 0 or more."
  }
}

variable "regular_percentage" {
  description = "Of the nodes of a spot pool above regular_base, how many in a hundred are regular ones."
  type        = number
  default     = 0
  nullable    = false

  validation {
    condition     = var.regular_percentage >= 0 && var.regular_percentage <= 100 && floor(var.regular_percentage) == var.regular_percentage
    error_message = "regular_percentage is a whole number from 0 to 100."
  }
}

variable "reserve_capacity" {
  description = "Whether to reserve capacity for the nodes of an on-demand pool: paid like running nodes from then on, used or not."
  type        = bool
  default     = false
  nullable    = false
}

variable "capacity_reservation_group_id" {
  description = "Existing capacity reservation group whose capacity the nodes use."
  type        = string
  default     = null
}

variable "resource_group_name" {
  description = "Existing resource group to use; null creates one named after the pool."
  type        = string
  default     = null
}

variable "subnet_id" {
  description = "Existing private subnet to use; null creates a network and a subnet named after the pool."
  type        = string
  default     = null
}

variable "address_space" {
  description = "Address range of the network that is created where no subnet is given."
  type        = string
  default     = "10.64.0.0/20"
  nullable    = false

  validation {
    condition     = can(cidrhost(var.address_space, 0))
    error_message = "address_space is a range in CIDR notation."
  }
}

variable "nat_gateway" {
  description = "Whether the network that is created gets a way out through a NAT gateway, which is paid by the hour and by volume; nodes have no public address either way."
  type        = bool
  default     = false
  nullable    = false
}

variable "ssh_from" {
  description = "Private address ranges in CIDR notation from which SSH reaches the nodes; empty for none."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for range in var.ssh_from : can(cidrhost(range, 0)) && can(regex("^(10|192\\.168|172\\.(1[6-9]|2[0-9]|3[01]))\\.", range))])
    error_message = "ssh_from holds private IPv4 ranges in CIDR notation."
  }
}

variable "lustre_from" {
  description = "Private address ranges in CIDR notation of Lustre file systems, whose servers must reach the nodes; empty for none."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for range in var.lustre_from : can(cidrhost(range, 0)) && can(regex("^(10|192\\.168|172\\.(1[6-9]|2[0-9]|3[01]))\\.", range))])
    error_message = "lustre_from holds private IPv4 ranges in CIDR notation."
  }
}

variable "accelerated_networking_enabled" {
  description = "Whether the network interface bypasses the host, which nearly all sizes can."
  type        = bool
  default     = true
  nullable    = false
}

variable "identity_ids" {
  description = "User-assigned managed identities of the nodes, such as one that may read a storage account."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "admin_username" {
  description = "Name of the administrator on the nodes."
  type        = string
  default     = "gpuadmin"
  nullable    = false

  validation {
    condition     = can(regex("^[a-z][a-z0-9_-]{0,30}$", var.admin_username)) && !contains(["admin", "administrator", "root"], var.admin_username)
    error_message = "admin_username is lower case and none of admin, administrator, root."
  }
}

variable "ssh_public_key" {
  description = "Public SSH key of the administrator; there is no password."
  type        = string

  validation {
    condition     = can(regex("^(ssh-rsa|ssh-ed25519) [A-Za-z0-9+/=]+", var.ssh_public_key))
    error_message = "ssh_public_key is a public key that starts with ssh-rsa or ssh-ed25519."
  }
}

variable "image" {
  description = "Marketplace image of the nodes. The default is plain Ubuntu 22.04, generation 2."
  type = object({
    publisher = string
    offer     = string
    sku       = string
    version   = string
  })
  default = {
    publisher = "Canonical"
    offer     = "0001-com-ubuntu-server-jammy"
    sku       = "22_04-lts-gen2"
    version   = "latest"
  }
  nullable = false
}

variable "image_id" {
  description = "Own or gallery image to use instead of image."
  type        = string
  default     = null
}

variable "hpc_image" {
  description = "Whether to use the Ubuntu HPC image, which brings GPU and InfiniBand drivers, instead of image."
  type        = bool
  default     = false
  nullable    = false
}

variable "hpc_image_sku" {
  description = "Which Ubuntu HPC image: 2404 or 2204 for NVIDIA, 2404-rocm or 2204-rocm for AMD Instinct, 2204-v100 for V100."
  type        = string
  default     = "2404"
  nullable    = false

  validation {
    condition     = contains(["2404", "2204", "2404-rocm", "2204-rocm", "2204-v100"], var.hpc_image_sku)
    error_message = "hpc_image_sku is 2404, 2204, 2404-rocm, 2204-rocm or 2204-v100."
  }
}

variable "gpu_vendor" {
  description = "Maker of the accelerators, which decides how a container gets at them: nvidia or amd."
  type        = string
  default     = "nvidia"
  nullable    = false

  validation {
    condition     = contains(["nvidia", "amd"], var.gpu_vendor)
    error_message = "gpu_vendor is nvidia or amd."
  }
}

variable "nvidia_driver_extension" {
  description = "Whether the NVIDIA GPU driver extension installs the driver. Off for images that bring one, such as the HPC image."
  type        = bool
  default     = true
  nullable    = false
}

variable "single_placement_group" {
  description = "Whether all nodes share one placement group, as InfiniBand between them needs: a uniform scale set of at most 100 nodes."
  type        = bool
  default     = false
  nullable    = false
}

variable "proximity_placement_group" {
  description = "Whether to keep the nodes close to one another; they then start all in one building or not at all. Null is where jobs span nodes that no placement group holds."
  type        = bool
  default     = null
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

variable "repair_nodes" {
  description = "Whether nodes whose NVIDIA GPUs are lost, or found broken by DCGM, are replaced by the scale set."
  type        = bool
  default     = false
  nullable    = false
}

variable "user_data" {
  description = "Cloud-init text run at first boot instead of a container; null for none."
  type        = string
  default     = null
}

variable "container_image" {
  description = "Container image that every node runs with all its GPUs, pulled without credentials; null for none."
  type        = string
  default     = null

  validation {
    condition     = var.container_image == null ? true : can(regex("^[a-z0-9][A-Za-z0-9./:@_-]*$", var.container_image))
    error_message = "container_image is a reference such as registry.example.com/team/train:1.0."
  }
}

variable "container_command" {
  description = "Command and arguments for the container instead of the ones of its image."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "cuda_line" {
  description = "Newest line of CUDA that the accelerator runs, such as 12.8; a tag, and CUDA_LINE in the container."
  type        = string
  default     = null

  validation {
    condition     = var.cuda_line == null ? true : can(regex("^[0-9]+\\.[0-9]+$", var.cuda_line))
    error_message = "cuda_line is a version such as 12.8."
  }
}
