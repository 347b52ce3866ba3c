import CloudKitModel
import CommandInterface
import Explanation
import JSONCoding

/// The command `petrel notifications list`, which prints the latest notifications with the states
/// of their pushes.
///
/// It calls `GET pushes` of the admin API.
enum NotificationsListCommand: Command {
  static let name = "notifications list"
  static let example = "petrel notifications list --container iCloud.com.example.app --limit 10"
  static let summary = "Lists notifications, newest first, with the states of their pushes."
  static let options: [Arguments.Option] =
    PlaceOptions.all + [
      .init(
        "text", "TEXT",
        "only those that have this in the name of the record, subscriber or subscription"),
      Listing.limitOption, AdminOptions.json,
    ] + AdminOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else { throw UsageError("takes only options") }
    try await AdminOptions.withAccess(arguments) { access in
      var query: [String: String?] = ["text": arguments.string("text")]
      // A server keeps the latest notifications of all databases in memory. Without a server, the
      // API reads the notifications of one database from the store.
      if access is LocalAdminAccess || arguments.string("container") != nil {
        query.merge(try PlaceOptions.members(arguments)) { $1 }
      }
      try await Listing(
        "pushes", of: "pushes", query, by: access, emptiness: "no notifications were found",
        columns
      ).show(arguments)
    }
    return 0
  }

  /// The columns of the table.
  static let columns: [Table.Column] = [
    .init("CHANGED") { $0["changed"]?.timeText ?? "" },
    .init("EVENT") { $0.eventText },
    .init("RECORD") { $0["recordName"]?.string ?? "zone \($0["zoneName"]?.string ?? "")" },
    .init("TYPE", "recordType"), .init("SUBSCRIPTION", "subscriptionID"),
    .init("SUBSCRIBER") { $0["subscriberName"]?.string ?? $0["subscriber"]?.string ?? "" },
    .init("PUSHES") { $0.deliveriesText },
  ]
}

extension JSONValue {
  /// The event of a change as text for people.
  var eventText: String {
    let name = self["event"]?.string ?? ""
    let event = ChangeEvent.allCases.first { "\($0)" == name }
    return event?.text ?? name
  }

  /// The states of a notification's pushes as text for people; `none` without pushes.
  fileprivate var deliveriesText: String {
    let deliveries = self["deliveries"]?.array ?? []
    let texts = deliveries.map { delivery in
      let reason = delivery["reason"]?.string.map { " (\($0))" } ?? ""
      return "\(delivery["kind"]?.string ?? "device") \(delivery["state"]?.string ?? "")\(reason)"
    }
    return texts.isEmpty ? "none" : texts.joined(separator: ", ")
  }
}
