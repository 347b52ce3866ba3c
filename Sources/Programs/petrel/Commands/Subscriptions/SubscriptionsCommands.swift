import AdminAPI
import CloudKitModel
import CommandInterface
import Explanation
import JSONCoding

extension AdminCommand {
  static let subscriptionsList = AdminCommand(
    "subscriptions list", "Lists the subscriptions in a database.",
    example: "petrel subscriptions list --container iCloud.com.example.app --type Note",
    .get("subscriptions"), leavingOut: ["subscriptionID"],
    prints: .pages(
      Listing(
        name: "subscriptions",
        columns: [
          .init("ID") { $0["subscription"]?.text("subscriptionID") ?? "" },
          .init("SUBSCRIBER", anyOf: ["userName", "subscriber"]),
          .init("WATCHES") { $0["subscription"]?.watchedText ?? "" },
          .init("PREDICATE", "predicate", width: 60),
        ], emptiness: "no subscriptions were found")))

  static let subscriptionsShow = AdminCommand(
    "subscriptions show", "Shows a subscription and the contents of its pushes.",
    example: "petrel subscriptions show pinned-notes --container iCloud.com.example.app "
      + "--subscriber anna", .get("subscriptions"), operands: ["subscriptionID"],
    leavingOut: ["recordType", "text", "limit", "continuation"],
    call: { access, members in
      var members = members
      var rows: [JSONValue] = []
      // Without a subscriber, the API examines only a part of the rows for each page, so a page may
      // be empty before the last one.
      repeat {
        let answer = try await access.answer(.get("subscriptions"), members)
        rows += answer["subscriptions"]?.array ?? []
        members["continuation"] = answer["continuation"]
      } while members["continuation"] != nil && rows.isEmpty
      guard let row = rows.first else {
        throw AdminFailure(
          "there is no subscription '\(members["subscriptionID"]?.string ?? "")' of this kind in the database"
        )
      }
      if rows.count > 1 {
        Output.complain(
          "several users have a subscription with this ID; choose one with --subscriber")
      }
      return row
    },
    prints: .lines { row, arguments in
      let subscription = row["subscription"] ?? [:]
      return arguments.positional
        + AdminOutput.properties([
          ("subscriber", row["userName"]?.string), ("user record", row["subscriber"]?.string),
          ("watches", subscription.watchedText), ("predicate", row["predicate"]?.string),
          ("push", subscription["notificationInfo"]?.text),
        ])
    })

  static let notificationsList = AdminCommand(
    "notifications list", "Lists notifications, newest first, with the states of their pushes.",
    example: "petrel notifications list --container iCloud.com.example.app --limit 10",
    .get("pushes"),
    call: { access, members in
      // A server keeps the latest notifications of all databases in memory. Without a server, the
      // API reads the notifications of one database from the store.
      if access is LocalAdminAccess, members["container"] == nil {
        throw UsageError("needs --container IDENTIFIER")
      }
      return try await access.answer(.get("pushes"), members)
    },
    prints: .pages(
      Listing(
        name: "pushes",
        columns: [
          .init("CHANGED", time: "changed"), .init("EVENT") { $0.eventText },
          .init("RECORD") { $0["recordName"]?.string ?? "zone \($0.text("zoneName"))" },
          .init("TYPE", "recordType"), .init("SUBSCRIPTION", "subscriptionID"),
          .init("SUBSCRIBER", anyOf: ["subscriberName", "subscriber"]),
          .init("PUSHES") { $0.deliveriesText },
        ], emptiness: "no notifications were found")))
}

extension JSONValue {
  /// The changes that a subscription watches, as text for people. The value is a subscription in
  /// the format of CloudKit Web Services.
  fileprivate var watchedText: String {
    let zone = self["zoneID"]?["zoneName"]?.string
    let place = zone.map { $0 == "_defaultZone" ? "" : " in \($0)" } ?? " in all zones"
    guard self["subscriptionType"]?.string == "query" else {
      return (self["recordType"]?.string ?? "changes") + place
    }
    let events = self["firesOn"]?.array?.compactMap(\.string) ?? []
    let once = self["firesOnce"]?.bool == true ? ", once" : ""
    return "\(self["query"]?.text("recordType") ?? "") \(events.joined(separator: "/"))\(once)"
      + place
  }

  var eventText: String {
    let event = ChangeEvent.allCases.first { "\($0)" == text("event") }
    return event?.text ?? text("event")
  }

  fileprivate var deliveriesText: String {
    let texts = (self["deliveries"]?.array ?? []).map { delivery in
      let reason = delivery["reason"]?.string.map { " (\($0))" } ?? ""
      return "\(delivery["kind"]?.string ?? "device") \(delivery.text("state"))\(reason)"
    }
    return texts.isEmpty ? "none" : texts.joined(separator: ", ")
  }
}
