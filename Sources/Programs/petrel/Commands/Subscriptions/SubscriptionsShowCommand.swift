import CommandInterface
import JSONCoding

/// The command `petrel subscriptions show`, which prints a subscription with its predicate and the
/// contents of its pushes.
///
/// It calls `GET subscriptions` of the admin API with the ID.
enum SubscriptionsShowCommand: Command {
  static let name = "subscriptions show"
  static let example =
    "petrel subscriptions show pinned-notes --container iCloud.com.example.app "
    + "--subscriber anna"
  static let summary = "Shows a subscription and the contents of its pushes."
  static let operands = "ID"
  static let options: [Arguments.Option] =
    PlaceOptions.all + [PlaceOptions.subscriber, AdminOptions.json] + AdminOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let subscriptionID = try arguments.word("the subscription's ID")
    var query: [String: String?] = try PlaceOptions.members(arguments).mapValues { $0 }
    query["subscriber"] = arguments.string("subscriber")
    query["subscriptionID"] = subscriptionID
    let found = try await AdminOptions.withAccess(arguments) { [query] access in
      var query = query
      var rows: [JSONValue] = []
      var next: String?
      // Without a subscriber, the API examines only a part of the rows for each page, so a page may
      // be empty before the last one.
      repeat {
        query["continuation"] = next
        let answer = try await access.get("subscriptions", query)
        rows += answer["subscriptions"]?.array ?? []
        next = answer["continuation"]?.string
      } while next != nil && rows.isEmpty
      return rows
    }
    guard let row = found.first else {
      throw AdminFailure(
        "there is no subscription '\(subscriptionID)' of this kind in the database")
    }
    if found.count > 1 {
      Output.complain(
        "several users have a subscription with this ID; choose one with --subscriber")
    }
    if arguments.flag("json") {
      Output.json(row)
      return 0
    }
    let subscription = row["subscription"] ?? [:]
    Output.line(subscriptionID.printable)
    for (title, text) in [
      ("subscriber", row["userName"]?.string), ("user record", row["subscriber"]?.string),
      ("watches", subscription.watchedText), ("predicate", row["predicate"]?.string),
      ("push", subscription["notificationInfo"]?.text),
    ] {
      if let text { Output.line("  \(title.padding(to: 12))\(text.printable)") }
    }
    return 0
  }
}
