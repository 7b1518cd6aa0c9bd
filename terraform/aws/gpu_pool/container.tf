locals {
  # Families whose devices docker is given; any other needs user_data of one's own.
  family = split(".", var.instance_type)[0]
  devices = (
    can(regex("^(trn|inf)", local.family)) ? "neuron" :
    can(regex("^(dl|g4ad)", local.family)) ? null : "nvidia"
  )
  # A word in single quotes is one argument to the shell, whatever is in it.
  shell_words = [
    for word in concat(compact([var.container_image]), var.container_command) : "'${replace(word, "'", "'\\''")}'"
  ]
  node_data = templatefile("${path.module}/cloud-init.yaml.tftpl", {
    prepare = base64encode(file("${path.module}/prepare-node.sh"))
    check   = var.repair_nodes ? filebase64("${path.module}/check-node.sh") : null
    give_up = filebase64("${path.module}/give-up-node.sh")
    script = var.container_image == null ? null : base64encode(templatefile("${path.module}/run-container.sh.tftpl", {
      image     = local.shell_words[0]
      command   = join(" ", slice(local.shell_words, 1, length(local.shell_words)))
      devices   = coalesce(local.devices, "none")
      cuda_line = coalesce(var.cuda_line, "none")
    }))
  })
  user_data = var.user_data == null ? local.node_data : var.user_data
}
