import CommandInterface
import JSONCoding

/// The command `petrel subscriptions list`, which prints the subscriptions in a database.
///
/// It calls `GET subscriptions` of the admin API.
enum SubscriptionsListCommand: Command {
  static let name = "subscriptions list"
  static let example = "petrel subscriptions list --container iCloud.com.example.app --type Note"
  static let summary = "Lists the subscriptions in a database."
  static let options: [Arguments.Option] =
    PlaceOptions.all + [
      PlaceOptions.subscriber, .init("type", "TYPE", "only those for this record type"),
      .init("text", "TEXT", "only those that have this in the ID, subscriber, predicate or alert"),
      Listing.limitOption, AdminOptions.json,
    ] + AdminOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else { throw UsageError("takes only options") }
    var query: [String: String?] = try PlaceOptions.members(arguments).mapValues { $0 }
    query["subscriber"] = arguments.string("subscriber")
    query["recordType"] = arguments.string("type")
    query["text"] = arguments.string("text")
    try await AdminOptions.withAccess(arguments) { [query] access in
      try await Listing(
        "subscriptions", of: "subscriptions", query, by: access,
        emptiness: "no subscriptions were found",
        [
          .init("ID") { $0["subscription"]?["subscriptionID"]?.string ?? "" },
          .init("SUBSCRIBER") { $0["userName"]?.string ?? $0["subscriber"]?.string ?? "" },
          .init("WATCHES") { $0["subscription"]?.watchedText ?? "" },
          .init("PREDICATE", "predicate", width: 60),
        ]
      ).show(arguments)
    }
    return 0
  }
}

extension JSONValue {
  /// The changes that a subscription watches, as text for people. The value is a subscription in
  /// the format of CloudKit Web Services.
  var watchedText: String {
    let zone = self["zoneID"]?["zoneName"]?.string
    let place = zone.map { $0 == "_defaultZone" ? "" : " in \($0)" } ?? " in all zones"
    guard self["subscriptionType"]?.string == "query" else {
      return (self["recordType"]?.string ?? "changes") + place
    }
    let events = self["firesOn"]?.array?.compactMap(\.string) ?? []
    let once = self["firesOnce"]?.bool == true ? ", once" : ""
    return "\(self["query"]?["recordType"]?.string ?? "") \(events.joined(separator: "/"))\(once)"
      + place
  }
}
