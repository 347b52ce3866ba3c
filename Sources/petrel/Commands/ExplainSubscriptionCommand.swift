import CloudKitModel
import Explanation
import Storage

/// `petrel explain subscription`
enum ExplainSubscriptionCommand: Command {
  static let name = "explain subscription"
  static let summary =
    "Tells how a subscription fared of late: its firings, their pushes, and what it looked at in vain."
  static let operands = "ID"
  static let options: [Arguments.Option] =
    ExplainOptions.place + [ExplainOptions.question[1]] + ExplainOptions.output

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let subscriptionID = try arguments.word("the subscription's ID")
    let explanation = try await ServeCommand.withStore(arguments) { store in
      let (database, address) = try await ExplainOptions.database(arguments, in: store)
      let question = try await ExplainOptions.question(arguments, in: store)
      guard let subscriber = question.subscriber ?? address.owner else {
        throw UsageError("needs --subscriber, whose subscription it is")
      }
      return try await ExplainOptions.explainer(arguments, of: store).explain(
        SubscriptionName(subscriber: subscriber, subscriptionID: subscriptionID), in: database)
    }
    if arguments.flag("json") {
      ExplainOptions.print(explanation.json)
    } else {
      for line in explanation.lines { Output.line(line) }
    }
    return explanation.subscription == nil ? 1 : 0
  }
}
