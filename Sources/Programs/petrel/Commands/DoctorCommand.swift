import CommandInterface

/// The command `petrel doctor`, which runs the checks of ``Doctor`` and prints the report.
///
/// It fails with status 1 if there is a problem; warnings do not matter.
enum DoctorCommand: Command {
  static let name = "doctor"
  static let example = "sudo -u petrel petrel doctor --data /var/lib/petrel"
  static let summary = "Checks what a server depends on, and says what to do."
  static let exitStatuses = [
    (ExitStatus.done, "there is no problem; there may be warnings"),
    (ExitStatus.failed, "there is a problem"),
  ]
  static let options =
    ConfigurationOptions.all + [
      .init("offline", nil, "contacts no other machine"),
      .init("deep", nil, "reads the whole store and its indexes, however long that takes"),
      .init("json", nil, "prints JSON"),
    ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else { throw UsageError("takes only options") }
    let doctor = Doctor(
      configuration: try ConfigurationCheck(arguments), isOffline: arguments.flag("offline"),
      isDeep: arguments.flag("deep"))
    let report = await doctor.examine()
    Output.write(arguments.flag("json") ? report.json.text + "\n" : report.text(.output))
    return report.isSound ? ExitStatus.done : ExitStatus.failed
  }
}
