import AdminAPI
import CommandInterface
import Foundation
import JSONCoding

/// The command `petrel subscriptions save`, which saves a subscription for a user, from a file or
/// from options.
struct SubscriptionsSaveCommand: Command {
  let name = "subscriptions save"
  let example =
    "petrel subscriptions save new-notes --type Note --container iCloud.com.example.app "
    + "--subscriber anna"
  let summary =
    "Saves a subscription for a user, from a file or from the options of the command."
  let operands = "[ID]"
  let options: [Arguments.Option] =
    AdminArgument.ofSubscriber.options + [
      .init(
        "file", "FILE", "the subscription as JSON of CloudKit Web Services; - is standard input"),
      .init("type", "TYPE", "the record type to watch"),
      .init("predicate", "TEXT", "which records, such as 'magnitude > 5' (default all)"),
      .init("fires-on", "LIST", "create, update, delete (default create)"),
      .init("once", nil, "deletes the subscription when it has fired"),
      .init("zone", "NAME", "the zone to watch (default all zones)"),
      .init("alert", "TEXT", "the text of its pushes (default none: they only wake the app)"),
      AdminOptions.json,
    ] + AdminOptions.all

  func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.count < 2 else { throw UsageError("takes one ID") }
    var body = try AdminArgument.ofSubscriber.members(arguments)
    try AdminCommand.needsSubscriber(body)
    if let predicate = arguments.string("predicate") { body["predicate"] = .string(predicate) }
    var subscription = try Self.subscription(arguments)
    if let word = arguments.positional.first { subscription["subscriptionID"] = .string(word) }
    body["subscription"] = .object(subscription)
    let answer = try await AdminOptions.withAccess(arguments) { [body] in
      try await $0.post("subscriptions/save", body)
    }
    if arguments.flag("json") {
      Output.json(answer)
    } else {
      Output.line("saved \(answer["subscription"]?["subscriptionID"]?.string ?? "")".printable)
      if let former = answer["subscription"]?["replacedSubscriptionType"]?.string {
        Output.complain(
          "\(name): it replaced the \(former) subscription with the same ID".printable)
      }
    }
    return 0
  }

  /// Returns the subscription in the file of `--file`, or a query subscription made from the other
  /// options. The result is in the format of CloudKit Web Services.
  ///
  /// - Throws: `UsageError` if the options are incomplete or contradict each other, or if the file
  ///   cannot be used.
  private static func subscription(_ arguments: Arguments) throws -> [String: JSONValue] {
    if let file = arguments.string("file") {
      for option in ["type", "fires-on", "once", "zone", "alert"] where arguments.flag(option) {
        throw UsageError("--\(option) cannot be used together with --file")
      }
      let json = try JSONFile.read(file)
      guard let object = json["subscription"]?.object ?? json.object else {
        throw UsageError("\(file) contains \(json.kind), not a subscription")
      }
      return object
    }
    guard let type = arguments.string("type") else {
      throw UsageError("needs --file, or --type with the record type to watch")
    }
    let events = (arguments.string("fires-on") ?? "create").split(separator: ",").map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    for event in events where !["create", "update", "delete"].contains(event) {
      throw UsageError("--fires-on must be of create, update and delete, not '\(event)'")
    }
    var subscription: [String: JSONValue] = [
      "subscriptionType": "query", "query": ["recordType": .string(type), "filterBy": []],
      "firesOn": .array(events.map { .string($0) }), "firesOnce": .bool(arguments.flag("once")),
    ]
    if let zone = arguments.string("zone") {
      subscription["zoneID"] = ["zoneName": .string(zone)]
    } else {
      subscription["zoneWide"] = true
    }
    subscription["notificationInfo"] =
      arguments.string("alert").map { ["alertBody": .string($0)] }
      ?? ["shouldSendContentAvailable": true]
    return subscription
  }
}

/// The command `petrel subscriptions delete`, which deletes subscriptions of a user.
struct SubscriptionsDeleteCommand: Command {
  let name = "subscriptions delete"
  let example =
    "petrel subscriptions delete new-notes --container iCloud.com.example.app "
    + "--subscriber anna"
  let summary = "Deletes subscriptions of a user."
  let operands = "ID…"
  let options: [Arguments.Option] =
    AdminArgument.ofSubscriber.options + [AdminOptions.json] + AdminOptions.all

  func run(_ arguments: Arguments) async throws -> Int32 {
    guard !arguments.positional.isEmpty else { throw UsageError("needs the subscription's ID") }
    let body = try AdminArgument.ofSubscriber.members(arguments)
    try AdminCommand.needsSubscriber(body)
    return try await AdminOptions.withAccess(arguments) { access in
      for subscriptionID in arguments.positional {
        let answer = try await access.post(
          "subscriptions/delete",
          body.merging(["subscriptionID": .string(subscriptionID)]) { $1 })
        if arguments.flag("json") {
          Output.json(answer)
        } else {
          Output.line("deleted \(subscriptionID)".printable)
        }
      }
      return 0
    }
  }
}
