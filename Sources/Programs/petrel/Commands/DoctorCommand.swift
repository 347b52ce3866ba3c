import CommandInterface

/// The command `petrel doctor`, which runs the checks of ``Doctor`` and prints the report.
///
/// The command exits with status 1 if there is a problem. Warnings do not change the status. Wrong
/// options give status 64 (``ExitStatus/usage``), as in every command.
///
/// The example runs the command as the server's user, so that the checks see the files with that
/// user's permissions.
struct DoctorCommand: Command {
  let name = "doctor"
  let example = "sudo -u petrel petrel doctor --data /var/lib/petrel"
  let summary = "Checks what a server depends on, and says what to do."
  let exitStatuses = [
    (ExitStatus.done, "there is no problem; there may be warnings"),
    (ExitStatus.failed, "there is a problem"),
  ]
  let options =
    ConfigurationOptions.all + [
      .init("offline", nil, "contacts no other machine"),
      .init("deep", nil, "reads the whole store and its indexes, however long that takes"),
      .init("json", nil, "prints JSON"),
    ]

  func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else { throw UsageError("takes only options") }
    let doctor = Doctor(
      configuration: try ConfigurationCheck(arguments), isOffline: arguments.flag("offline"),
      isDeep: arguments.flag("deep"))
    let report = await doctor.examine()
    Output.write(arguments.flag("json") ? report.json.text + "\n" : report.text(.output))
    return report.isSound ? ExitStatus.done : ExitStatus.failed
  }
}
