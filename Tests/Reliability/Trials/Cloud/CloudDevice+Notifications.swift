import HistoryChecking
import JSONCoding

extension CloudDevice {
  /// Registers the device for pushes; insists.
  func register(while goesOn: () -> Bool = { true }) {
    let body: JSONValue = [
      "apnsEnvironment": "development", "apnsToken": .string(pushToken),
      "clientId": .string(name),
    ]
    guard let done = insist("device", "tokens/register", body, while: goesOn) else { return }
    history.devices.append(
      DeviceRegistration(user: user, device: device, token: pushToken, span: done.span))
  }

  /// Saves a query subscription; insists.
  ///
  /// - Parameters:
  ///   - topic: what it is about (``Marks``): the database, or the high levels of it.
  func subscribe(
    id: String, topic: String, type: String, firesOnce: Bool = false,
    while goesOn: () -> Bool = { true }
  ) {
    let isHigh = topic.hasSuffix("/high")
    var query: [String: JSONValue] = ["recordType": .string(type)]
    if isHigh {
      query["filterBy"] = [
        [
          "fieldName": "level", "comparator": "GREATER_THAN",
          "fieldValue": ["value": .int(Int64(Marks.highLevel)), "type": "INT64"],
        ]
      ]
    }
    let isPublic = topic.hasPrefix("public")
    let body: JSONValue = [
      "operations": [
        [
          "operationType": "create",
          "subscription": [
            "subscriptionID": .string(id), "subscriptionType": "query", "query": .object(query),
            "zoneWide": .bool(!isPublic), "firesOn": ["create", "update", "delete"],
            "firesOnce": .bool(firesOnce),
            "notificationInfo": ["alertBody": .string(id), "additionalFields": ["mark"]],
          ],
        ]
      ]
    ]
    let scope = isPublic ? "public" : "private"
    guard
      let done = insist("database", scope + "/subscriptions/modify", body, while: goesOn)
    else { return }
    let item = done.answer["subscriptions"]?.array?.first
    guard item?["serverErrorCode"] == nil else {
      refused.append("\(id): \(item?.text ?? "")")
      return
    }
    history.subscriptions.append(
      Subscribing(user: user, id: id, span: done.span, topic: topic, firesOnce: firesOnce))
  }

  /// Deletes subscriptions of a database that are not needed any more; insists.
  func unsubscribe(_ ids: [String], scope: String) {
    guard !ids.isEmpty else { return }
    let operations = ids.map { id -> JSONValue in
      ["operationType": "delete", "subscription": ["subscriptionID": .string(id)]]
    }
    _ = insist(
      "database", scope + "/subscriptions/modify", ["operations": .array(operations)])
  }

  /// Reads the notification log since a token, to the end.
  ///
  /// - Parameter prefix: only notifications of subscriptions with this beginning are written down.
  /// - Returns: the new token, and how many entries there were; nil when it did not come to the end.
  func readLog(
    reader: String, since token: String?, ofSubscriptions prefix: String, isLast: Bool = false
  ) -> (token: String, count: Int)? {
    let began = TrialClock.now
    guard let log = readNotifications(since: token) else { return nil }
    let entries = log.items.compactMap(entry).filter { $0.subscriptionID.hasPrefix(prefix) }
    history.logs.append(
      LogReading(
        user: user, reader: reader, span: Span(began: began, ended: TrialClock.now),
        continues: token != nil, isLast: isLast, entries: entries))
    return log.token.map { ($0, log.items.count) }
  }

  /// Reads all notifications of the log since a token; nil when it did not come to the end.
  func readNotifications(since token: String?) -> (token: String?, items: [JSONValue])? {
    var log: (token: String?, items: [JSONValue]) = (token, [])
    while true {
      var body: [String: JSONValue] = [:]
      body["syncToken"] = log.token.map { .string($0) }
      guard
        case .answer(let page) = ask("device", "notifications/changes", .object(body)),
        let items = page["notifications"]?.array
      else { return nil }
      log.items += items
      log.token = page["syncToken"]?.string ?? log.token
      if page["moreComing"]?.bool != true { return log }
    }
  }

  private func entry(_ item: JSONValue) -> LogEntry? {
    guard let body = item["ck"], let query = body["qry"],
      let notificationID = body["nid"]?.string, let subscriptionID = query["sid"]?.string
    else { return nil }
    let isDeletion = query["fo"]?.int == 3
    return LogEntry(
      notificationID: notificationID, subscriptionID: subscriptionID,
      key: RecordKey(
        database: query["dbs"]?.int == 2 ? "public" : user, zone: query["zid"]?.string ?? "",
        name: query["rid"]?.string ?? ""),
      mark: isDeletion ? nil : item["fields"]?["mark"]?["value"]?.string)
  }
}
