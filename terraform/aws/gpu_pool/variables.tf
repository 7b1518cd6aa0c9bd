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
  description = "Further tags on everything that is created; a character that AWS does not take becomes an underscore."
  type        = map(string)
  default     = {}
  nullable    = false
}

variable "purchase_option" {
  description = "How nodes are paid for: on_demand (also under reserved instances and savings plans, which bill by themselves), spot, or capacity_block (into a block that is already bought, or is bought here)."
  type        = string
  default     = "on_demand"
  nullable    = false

  validation {
    condition     = contains(["on_demand", "spot", "capacity_block"], var.purchase_option)
    error_message = "purchase_option is on_demand, spot or capacity_block."
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
  description = "Nodes of a spot pool that are bought on demand before any other, so that some survive an interruption."
  type        = number
  default     = 0
  nullable    = false

  validation {
    condition     = var.on_demand_base_count >= 0
    error_message = "on_demand_base_count is 0 or more."
  }
}

variable "spot_fraction" {
  description = "Part of a spot pool above on_demand_base_count that is started on spot, 0 to 1; the rest is on demand."
  type        = number
  default     = 1
  nullable    = false

  validation {
    condition     = var.spot_fraction >= 0 && var.spot_fraction <= 1
    error_message = "spot_fraction is between 0 and 1."
  }
}

variable "spot_max_price" {
  description = "Most to pay for a spot node, in USD an hour as a string; null is the on-demand price."
  type        = string
  default     = null
}

variable "capacity_reservation_id" {
  description = "Capacity reservation or capacity block (cr-...) that exists already, to start nodes in; null where one is reserved or bought here."
  type        = string
  default     = null

  validation {
    condition     = var.capacity_reservation_id == null || can(regex("^cr-[0-9a-f]+$", var.capacity_reservation_id))
    error_message = "capacity_reservation_id starts with cr-."
  }
}

variable "reserve_capacity" {
  description = "Whether to reserve the capacity of on-demand nodes. It is paid for at the on-demand rate, used or not."
  type        = bool
  default     = false
  nullable    = false
}

variable "reservation_end" {
  description = "When that reservation ends (2027-03-31T00:00:00Z); null lasts until it is destroyed."
  type        = string
  default     = null

  validation {
    condition     = var.reservation_end == null || can(timeadd(var.reservation_end, "0s"))
    error_message = "reservation_end is a time such as 2027-03-31T00:00:00Z."
  }
}

variable "capacity_block_search" {
  description = "Capacity block to look for: hours it lasts and the times it lies between. Looking is free; the outputs tell its price."
  type        = object({ duration_hours = number, starts_after = string, ends_before = string })
  default     = null

  validation {
    condition     = try(var.capacity_block_search.duration_hours % 24, 0) == 0
    error_message = "capacity_block_search.duration_hours is a whole number of days."
  }

  validation {
    condition = (
      var.capacity_block_search == null ||
      can(timecmp(var.capacity_block_search.starts_after, var.capacity_block_search.ends_before))
    )
    error_message = "capacity_block_search has times such as 2027-03-01T00:00:00Z."
  }
}

variable "capacity_block_offering_id" {
  description = "Capacity block offering (cb-...) to buy, as the output capacity_block tells it; null buys what the search finds."
  type        = string
  default     = null
}

variable "buy_capacity_block" {
  description = "Whether to buy the capacity block. All of it is paid for at once, and it cannot be given back."
  type        = bool
  default     = false
  nullable    = false
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
  default     = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id"
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
  description = "Elastic Fabric Adapter interfaces a node, 0 for none; null is as many as the instance type has."
  type        = number
  default     = null

  validation {
    condition     = var.efa_interface_count == null || contains(range(33), coalesce(var.efa_interface_count, 0))
    error_message = "efa_interface_count is a whole number from 0 to 32."
  }
}

variable "placement_group" {
  description = "Whether nodes are packed close together in one zone, for jobs that span nodes; null is where they have EFA and one subnet. A capacity block is close together as it is."
  type        = bool
  default     = null
}

variable "instance_profile_name" {
  description = "IAM instance profile of the nodes; null gives them no rights."
  type        = string
  default     = null
}

variable "repair_nodes" {
  description = "Whether nodes whose NVIDIA GPUs DCGM finds broken are replaced; needs instance_profile_name with autoscaling:SetInstanceHealth."
  type        = bool
  default     = false
  nullable    = false
}

variable "refresh_nodes" {
  description = "Whether running nodes are replaced one by one when their template changes, such as for a newer image; false leaves them as they are."
  type        = bool
  default     = false
  nullable    = false
}

variable "user_data" {
  description = "Cloud-init text run at first boot, for those who bring their own; null for none."
  type        = string
  default     = null
}

variable "container_image" {
  description = "Container image to run on every node with all its accelerators, started again when it fails; null for none."
  type        = string
  default     = null

  validation {
    condition     = var.container_image == null || can(regex("^[a-z0-9][A-Za-z0-9._:/@-]*$", var.container_image))
    error_message = "container_image is an image name such as registry.example.com/team/train:1.0."
  }
}

variable "container_command" {
  description = "Words of the command that the container runs; empty leaves the image's own."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "cuda_line" {
  description = "CUDA line that the plan names for the accelerator, such as 12.9; an image with a newer one is warned of in the journal."
  type        = string
  default     = null

  validation {
    condition     = var.cuda_line == null || can(regex("^\\d+\\.\\d+$", var.cuda_line))
    error_message = "cuda_line is a CUDA version such as 12.9."
  }
}
