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
  description = "Further tags on everything that is created."
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
  description = "Nodes to keep running."
  type        = number

  validation {
    condition     = var.node_count >= 0 && var.node_count <= 1000 && floor(var.node_count) == var.node_count
    error_message = "node_count is a whole number of nodes from 0 to 1000, the most that a scale set holds."
  }
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

variable "nvidia_driver_extension" {
  description = "Whether the NVIDIA GPU driver extension installs the driver. Off for images that bring one, such as the HPC image."
  type        = bool
  default     = true
  nullable    = false
}

variable "single_placement_group" {
  description = "Whether all nodes share one placement group, as InfiniBand between them needs; at most 100 nodes."
  type        = bool
  default     = false
  nullable    = false
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
  description = "Whether temporary disks and caches are encrypted too; the subscription must have EncryptionAtHost registered."
  type        = bool
  default     = false
  nullable    = false
}

variable "user_data" {
  description = "Cloud-init text run at first boot; null for none."
  type        = string
  default     = null
}
