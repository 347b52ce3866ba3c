import CommandInterface

/// The command `petrel explain subscription`, which shows the latest firings of a subscription and
/// counts the changes that did not match. A firing is a change that matched the subscription, with
/// the notification for it.
///
/// It calls `GET explain/subscription` of the admin API, and exits with status 1 if there is no
/// such subscription.
enum ExplainSubscriptionCommand: Command {
  static let name = "explain subscription"
  static let example =
    "petrel explain subscription pinned-notes --container iCloud.com.example.app --subscriber anna"
  static let summary =
    "Shows a subscription's latest firings, their pushes, and how many changes did not match."
  static let operands = "ID"
  static let options: [Arguments.Option] =
    ExplainOptions.place + [ExplainOptions.subscriber] + ExplainOptions.output

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let subscriptionID = try arguments.word("the subscription's ID")
    var query: [String: String?] = try ExplainOptions.members(arguments).mapValues { $0 }
    if query["database"] == "public", arguments.string("subscriber") == nil {
      throw UsageError("needs --subscriber, the user who has the subscription")
    }
    query["subscriptionID"] = subscriptionID
    let answer = try await AdminOptions.withAccess(arguments) { [query] in
      try await $0.get("explain/subscription", query)
    }
    ExplainOptions.show(answer, arguments) { $0.ofSubscription }
    return answer["exists"]?.bool == true ? 0 : 1
  }
}
