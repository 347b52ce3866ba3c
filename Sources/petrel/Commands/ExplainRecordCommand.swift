import CloudKitModel
import Explanation
import Storage

/// `petrel explain record`
enum ExplainRecordCommand: Command {
  static let name = "explain record"
  static let summary =
    "Tells what became of a record's latest changes: who was notified, who was not, and why."
  static let operands = "NAME"
  static let options: [Arguments.Option] =
    ExplainOptions.place + [.init("zone", "NAME", "the record's zone (default _defaultZone)")]
    + ExplainOptions.question + ExplainOptions.output

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let recordName = try arguments.word("the record's name")
    let explanation = try await ServeCommand.withStore(arguments) { store in
      let (database, _) = try await ExplainOptions.database(arguments, in: store)
      return try await ExplainOptions.explainer(arguments, of: store).explain(
        RecordID(recordName: recordName, zoneID: ExplainOptions.zone(arguments)), in: database,
        about: ExplainOptions.question(arguments, in: store))
    }
    if arguments.flag("json") {
      ExplainOptions.print(explanation.json)
    } else {
      for line in explanation.lines { Output.line(line) }
    }
    return explanation.changes.isEmpty ? 1 : 0
  }
}
