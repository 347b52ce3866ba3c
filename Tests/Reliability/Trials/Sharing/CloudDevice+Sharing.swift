import HistoryChecking
import JSONCoding

extension CloudDevice {
  /// A share's participants as the owner sees them.
  struct ShareView {
    var link: String
    /// The record names of those who have accepted.
    var accepted: Set<String>
  }

  /// An answer about one item: the item, or its error.
  enum ItemReply {
    case item(JSONValue)
    case failure(String)
    case noAnswer

    /// Whether the answer is that there is nothing that the caller may see.
    var isAbsent: Bool {
      if case .failure(let code) = self { return code == "NOT_FOUND" || code == "ZONE_NOT_FOUND" }
      return false
    }

    /// Whether the answer is that the caller, whom nobody invites, cannot accept the share.
    var isUninvited: Bool {
      if case .failure(let code) = self { return code == "ACCESS_DENIED" }
      return false
    }
  }

  /// The items of an answer, as many as asked for.
  private func items(_ reply: Reply, _ member: String, count: Int) -> [ItemReply] {
    let all: ItemReply
    switch reply {
    case .answer(let answer):
      if let items = answer[member]?.array, items.count == count {
        return items.map { item in
          item["serverErrorCode"]?.string.map { .failure($0) } ?? .item(item)
        }
      }
      all = .noAnswer
    case .refusal(let code, isDecided: true): all = .failure(code)
    case .refusal, .notSent, .noAnswer: all = .noAnswer
    }
    return [ItemReply](repeating: all, count: count)
  }

  private static func zoneID(_ zone: String, of owner: String?) -> JSONValue {
    var zoneID: [String: JSONValue] = ["zoneName": .string(zone)]
    zoneID["ownerRecordName"] = owner.map { .string($0) }
    return .object(zoneID)
  }

  private static func root(_ owner: String?) -> String { owner == nil ? "private" : "shared" }

  // MARK: Records

  /// Carries out operations in one zone, all or none.
  ///
  /// - Parameter owner: the zone's owner, if it is not the user.
  func modifyShared(
    _ operations: [JSONValue], in zone: String, of owner: String? = nil
  ) -> [ItemReply] {
    let body: JSONValue = [
      "zoneID": Self.zoneID(zone, of: owner), "atomic": .bool(operations.count > 1),
      "operations": .array(operations),
    ]
    return items(
      ask("database", Self.root(owner) + "/records/modify", body), "records",
      count: operations.count)
  }

  func lookUpShared(_ name: String, in zone: String, of owner: String? = nil) -> ItemReply {
    let body: JSONValue = [
      "zoneID": Self.zoneID(zone, of: owner), "records": [["recordName": .string(name)]],
    ]
    return items(ask("database", Self.root(owner) + "/records/lookup", body), "records", count: 1)[
      0]
  }

  /// A share in the owner's database; nil without an answer, and with no link if it has ended.
  func lookUpShare(_ place: SharedPlace) -> ShareView? {
    let reply = lookUpShared(place.shareName, in: place.zone)
    if reply.isAbsent { return ShareView(link: "", accepted: []) }
    guard case .item(let share) = reply, let link = share["shortGUID"]?.string else { return nil }
    let accepted = share["participants"]?.array?.filter {
      $0["acceptanceStatus"]?.string == "ACCEPTED" && $0["type"]?.string != "OWNER"
    }
    return ShareView(
      link: link,
      accepted: Set(accepted?.compactMap { $0["userIdentity"]?["userRecordName"]?.string } ?? []))
  }

  /// The names of the records that a zone has, from its feed.
  ///
  /// - Parameters:
  ///   - token: the end of the last reading.
  ///   - names: the names at that time.
  /// - Returns: the names and the new token; the error if there is one; nil without an answer.
  func readNames(
    in zone: String, of owner: String? = nil, since token: String? = nil, names: Set<String> = []
  ) -> Result<(names: Set<String>, token: String?), TrialError>? {
    var (names, next) = (names, token)
    while true {
      var request: [String: JSONValue] = [
        "zoneID": Self.zoneID(zone, of: owner), "resultsLimit": .int(50),
      ]
      request["syncToken"] = next.map { .string($0) }
      switch items(
        ask("database", Self.root(owner) + "/changes/zone", ["zones": [.object(request)]]), "zones",
        count: 1)[0]
      {
      case .noAnswer: return nil
      case .failure(let code): return .failure(TrialError(code))
      case .item(let page):
        for record in page["records"]?.array ?? [] {
          guard let name = record["recordName"]?.string else { continue }
          if record["deleted"]?.bool == true { names.remove(name) } else { names.insert(name) }
        }
        next = page["syncToken"]?.string ?? next
        if page["moreComing"]?.bool != true { return .success((names, next)) }
      }
    }
  }

  // MARK: Taking part

  /// Accepts a share.
  func accept(_ link: String) -> ItemReply {
    items(
      ask("database", "public/records/accept", ["shortGUIDs": [.string(link)]]), "results",
      count: 1)[0]
  }

  /// Saves a subscription; insists.
  func subscribeShared(_ id: String, scope: String, query type: String? = nil) {
    var subscription: [String: JSONValue] = [
      "subscriptionID": .string(id), "subscriptionType": "database",
      "notificationInfo": ["shouldSendContentAvailable": true],
    ]
    if let type {
      subscription["subscriptionType"] = "query"
      subscription["query"] = ["recordType": .string(type)]
      subscription["zoneWide"] = true
      subscription["firesOn"] = ["create", "update", "delete"]
    }
    let done = insist(
      "database", scope + "/subscriptions/modify",
      ["operations": [["operationType": "create", "subscription": .object(subscription)]]])
    if let item = done?.answer["subscriptions"]?.array?.first, item["serverErrorCode"] != nil {
      refused.append("\(id): \(item.text)")
    }
  }

  // MARK: The log

  /// An entry of a notification log: the notification's ID, and the record for a query.
  struct SharedEntry: Equatable {
    var notificationID: String
    var subscription: String
    var subject: SharingHistory.Change.Subject?
  }

  /// Reads the notification log since a token, to the end; nil without an answer.
  func readSharedLog(
    since token: String?, prefix: String
  ) -> (token: String?, entries: [SharedEntry])? {
    guard let log = readNotifications(since: token) else { return nil }
    let entries = log.items.compactMap { item -> SharedEntry? in
      guard let body = item["ck"], let id = body["nid"]?.string,
        let subscription = (body["qry"] ?? body["met"])?["sid"]?.string,
        subscription.hasPrefix(prefix)
      else { return nil }
      let subject = body["qry"].map {
        SharingHistory.Change.Subject(
          name: $0["rid"]?.string ?? "", isDeletion: $0["fo"]?.int == 3)
      }
      return SharedEntry(notificationID: id, subscription: subscription, subject: subject)
    }
    return (log.token, entries)
  }
}
