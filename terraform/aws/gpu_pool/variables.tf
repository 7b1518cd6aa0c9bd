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
  description = "How nodes are paid for: on_demand (also under reserved instances and savings plans, which bill by themselves), spot, or capacity_block (into a capacity block that is already bought)."
  type        = string
  default     = "on_demand"
  nullable    = false

  validation {
    condition     = contains(["on_demand", "spot", "capacity_block"], var.purchase_option)
    error_message = "purchase_option is on_demand, spot or capacity_block."
  }
}

variable "node_count" {
  description = "Nodes to keep running."
  type        = number

  validation {
    condition     = var.node_count >= 0 && floor(var.node_count) == var.node_count
    error_message = "node_count is a whole number of nodes, 0 or more."
  }
}

variable "max_node_count" {
  description = "Upper limit of the group for whoever scales it; null keeps it at node_count."
  type        = number
  default     = null
}

variable "instance_type" {
  description = "EC2 instance type, such as g6e.12xlarge."
  type        = string

  validation {
    condition     = can(regex("^[a-z0-9-]+\\.[a-z0-9]+$", var.instance_type))
    error_message = "instance_type is an EC2 instance type such as g6e.12xlarge."
  }
}

variable "alternative_instance_types" {
  description = "Other instance types the group may start when the first is short. The plan prices only the first."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "on_demand_base_count" {
  description = "Nodes of a spot pool that are bought on demand, so that some survive an interruption."
  type        = number
  default     = 0
  nullable    = false

  validation {
    condition     = var.on_demand_base_count >= 0
    error_message = "on_demand_base_count is 0 or more."
  }
}

variable "spot_max_price" {
  description = "Most to pay for a spot node, in USD an hour as a string; null is the on-demand price."
  type        = string
  default     = null
}

variable "capacity_reservation_id" {
  description = "Capacity reservation or capacity block (cr-...) to start nodes in; needed for capacity_block."
  type        = string
  default     = null

  validation {
    condition     = var.capacity_reservation_id == null || can(regex("^cr-[0-9a-f]+$", var.capacity_reservation_id))
    error_message = "capacity_reservation_id starts with cr-."
  }
}

variable "subnet_ids" {
  description = "Private subnets to start nodes in, in zones that offer the instance type. One subnet for a placement group."
  type        = list(string)

  validation {
    condition     = length(var.subnet_ids) > 0 && alltrue([for id in var.subnet_ids : startswith(id, "subnet-")])
    error_message = "subnet_ids holds at least one subnet id (subnet-...)."
  }
}

variable "image_parameter" {
  description = "Public SSM parameter that holds the id of the image. The default is the Deep Learning Base image for NVIDIA GPUs on x86_64."
  type        = string
  default     = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id"
  nullable    = false

  validation {
    condition     = startswith(var.image_parameter, "/")
    error_message = "image_parameter is the path of an SSM parameter and starts with /."
  }
}

variable "ami_id" {
  description = "Image to use instead of image_parameter."
  type        = string
  default     = null

  validation {
    condition     = var.ami_id == null || can(regex("^ami-[0-9a-f]+$", var.ami_id))
    error_message = "ami_id starts with ami-."
  }
}

variable "root_device_name" {
  description = "Root device of the image."
  type        = string
  default     = "/dev/sda1"
  nullable    = false
}

variable "root_volume_gib" {
  description = "Size of the encrypted gp3 root volume in GiB."
  type        = number
  default     = 200
  nullable    = false

  validation {
    condition     = var.root_volume_gib >= 1 && var.root_volume_gib <= 16384
    error_message = "root_volume_gib is between 1 and 16384."
  }
}

variable "kms_key_id" {
  description = "Key that encrypts the root volume; null is the account's default key for EBS."
  type        = string
  default     = null
}

variable "efa_interface_count" {
  description = "Elastic Fabric Adapter interfaces a node, 0 for none; the instance type sets the most."
  type        = number
  default     = 0
  nullable    = false

  validation {
    condition     = var.efa_interface_count >= 0 && var.efa_interface_count <= 32 && floor(var.efa_interface_count) == var.efa_interface_count
    error_message = "efa_interface_count is a whole number from 0 to 32."
  }
}

variable "placement_group" {
  description = "Whether nodes are packed close together in one zone, for jobs that span nodes."
  type        = bool
  default     = false
  nullable    = false
}

variable "instance_profile_name" {
  description = "IAM instance profile of the nodes; null gives them no rights."
  type        = string
  default     = null
}

variable "user_data" {
  description = "Cloud-init text run at first boot; null for none."
  type        = string
  default     = null
}
