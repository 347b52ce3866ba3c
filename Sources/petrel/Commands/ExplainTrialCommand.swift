import CloudKitModel
import Explanation
import Foundation
import JSONCoding
import Storage
import WebServices

/// `petrel explain trial`
enum ExplainTrialCommand: Command {
  static let name = "explain trial"
  static let summary =
    "Tells which subscriptions a record would fire, or which changes would have fired a subscription; saves nothing."
  static let operands = "record|subscription"
  static let options: [Arguments.Option] =
    ExplainOptions.place + [
      .init(
        "file", "FILE",
        "JSON in the form of CloudKit Web Services, {\"event\": \"create\", \"record\": {…}} or "
          + "{\"subscription\": {…}}; needed")
    ] + ExplainOptions.question + ExplainOptions.output

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let kind = try arguments.word("record or subscription")
    guard let file = arguments.string("file") else {
      throw UsageError("needs --file, with the \(kind) as JSON")
    }
    guard let body = FileManager.default.contents(atPath: file) else {
      throw UsageError("there is no file '\(file)'")
    }
    return try await ServeCommand.withStore(arguments) { store in
      let (database, address) = try await ExplainOptions.database(arguments, in: store)
      let explainer = try ExplainOptions.explainer(arguments, of: store)
      let question = try await ExplainOptions.question(arguments, in: store)
      let context = MessageContext(ownerNaming: .implied)
      switch kind {
      case "record":
        let request = try RecordTrialRequest(parsing: body, context: context)
        let run = try await explainer.dryRun(
          Change(
            event: request.event, zoneID: request.record.recordID.zoneID, record: request.record,
            notificationID: UUID(), timestamp: .now), in: database, about: question)
        show(arguments, run.json, run.lines)
      case "subscription":
        let request = try SubscriptionTrialRequest(
          parsing: body, context: context, scope: address.scope)
        let run = try await explainer.dryRun(
          request.subscription, of: question.subscriber ?? address.owner ?? "", in: database)
        show(arguments, run.json, run.lines)
      default:
        throw UsageError("takes record or subscription, not '\(kind)'")
      }
      return 0
    }
  }

  private static func show(_ arguments: Arguments, _ json: JSONValue, _ lines: [String]) {
    if arguments.flag("json") { return ExplainOptions.print(json) }
    for line in lines { Output.line(line) }
  }
}
