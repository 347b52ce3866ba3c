import HistoryChecking
import JSONCoding

/// The owner of the shares: saves and deletes records, and changes who takes part.
final class SharingOwner: SharingActor, @unchecked Sendable {
  /// A change of a share that is repeated until it is answered.
  private struct Request {
    enum Kind {
      case list(Set<String>)
      case end
    }

    var place: SharedPlace
    var kind: Kind
    var began: Int64
  }

  private var request: Request?
  /// The names in the list of each share; nil for a share that has ended.
  private var listed: [SharedPlace: Set<String>] = [:]
  private let links: Links
  /// The participants' record names, by name.
  private let users: [String: String]
  /// The users who are never removed, other than by the end of a share.
  private let steady: Set<String>

  init(
    _ device: CloudDevice, recordName: String, epoch: Int, seed: UInt64, logToken: String?,
    users: [String: String], steady: Set<String>, links: Links
  ) {
    self.users = users
    self.steady = steady
    self.links = links
    super.init(device, recordName: recordName, epoch: epoch, seed: seed, logToken: logToken)
  }

  /// Makes the zones, the subscriptions, and the shares, with all users in them.
  func prepare() {
    let zones = places.map { place -> JSONValue in
      ["operationType": "create", "zone": ["zoneID": ["zoneName": .string(place.zone)]]]
    }
    _ = device.insist("database", "private/zones/modify", ["operations": .array(zones)])
    let prefix = SharedPlace.prefix(epoch)
    device.subscribeShared(prefix + "records", scope: "private", query: SharedPlace.type(epoch))
    device.subscribeShared(prefix + "all", scope: "private")
    for place in places {
      _ = TrialClock.wait(seconds: 30) {
        if case .item = saveAnchor(of: place) { return true }
        return false
      }
      change(place, to: .list(Set(users.keys)))
    }
  }

  private func saveAnchor(of place: SharedPlace) -> CloudDevice.ItemReply {
    device.modifyShared([Self.savingAnchor(of: place)], in: place.zone)[0]
  }

  private static func savingAnchor(of place: SharedPlace) -> JSONValue {
    [
      "operationType": "forceUpdate",
      "record": [
        "recordName": .string(place.anchor), "recordType": .string(SharedPlace.type(place.epoch)),
        "fields": ["level": ["value": 1]],
      ],
    ]
  }

  override func step() {
    guard settle() else { return TrialClock.pause(seconds: 0.002) }
    guard let place = pick(places) else { return }
    switch Int.random(in: 0..<16, using: &generator) {
    case 0..<7: create(in: place)
    case 7: create(in: SharedPlace(kind: .hierarchy, epoch: epoch), isShared: false)
    case 8: deleteOne()
    case 9, 10: readLog()
    default: changeParts()
    }
  }

  private func deleteOne() {
    let made = history.changes.filter { change in
      change.hasHappened == true && !change.subject.isDeletion && change.share != nil
        && !history.changes.contains {
          $0.subject.isDeletion && $0.subject.name == change.subject.name
        }
    }
    guard let change = pick(made), let place = places.first(where: { $0.zone == change.share })
    else { return }
    self.change(
      "forceDelete", ["recordName": .string(change.subject.name)],
      SharingHistory.Change.Subject(name: change.subject.name, isDeletion: true), in: place,
      isShared: true)
  }

  // MARK: Parts

  /// Removes somebody, invites somebody again, or ends a share.
  private func changeParts() {
    guard let place = pick(places) else { return }
    guard let present = listed[place] else { return change(place, to: .list(Set(users.keys))) }
    if place.kind == .ending { return change(place, to: .end) }
    guard let user = pick(users.keys.filter { !steady.contains($0) }.sorted()) else { return }
    change(place, to: .list(present.symmetricDifference([user])))
  }

  /// Removes a user from a share.
  func remove(_ user: String, from place: SharedPlace) {
    change(place, to: .list((listed[place] ?? []).subtracting([user])))
  }

  private func change(_ place: SharedPlace, to kind: Request.Kind) {
    request = Request(place: place, kind: kind, began: TrialClock.now)
    _ = settle()
  }

  override func settle() -> Bool {
    guard let request else { return true }
    switch request.kind {
    case .list(let users):
      guard
        case .item(let share) = save(users, of: request.place),
        let link = share["shortGUID"]?.string
      else { return false }
      links[request.place] = link
      for user in users.sorted() {
        note(.invited, of: user, in: request.place, since: request.began)
      }
      for user in (listed[request.place] ?? []).subtracting(users).sorted() {
        note(.removed, of: user, in: request.place, since: request.began)
      }
      listed[request.place] = users
    case .end:
      let reply = device.modifyShared(
        [
          [
            "operationType": "forceDelete",
            "record": ["recordName": .string(request.place.shareName)],
          ]
        ], in: request.place.zone)[0]
      guard case .item = reply else { return false }
      for user in users.keys.sorted() {
        note(.removed, of: user, in: request.place, since: request.began)
      }
      listed[request.place] = nil
    }
    self.request = nil
    return true
  }

  /// Saves a share with these users.
  func save(_ users: Set<String>, of place: SharedPlace) -> CloudDevice.ItemReply {
    let participants = users.sorted().map { user -> JSONValue in
      [
        "type": "USER", "permission": "READ_WRITE", "acceptanceStatus": "INVITED",
        "userIdentity": ["userRecordName": .string(self.users[user] ?? "")],
      ]
    }
    var share: [String: JSONValue] = [
      "recordName": .string(place.shareName), "recordType": "cloudkit.share",
      "participants": .array(participants),
    ]
    var operations: [JSONValue] = []
    if place.kind == .hierarchy, listed[place] == nil {
      share["forRecord"] = ["recordName": .string(place.anchor)]
      operations.append(Self.savingAnchor(of: place))
    }
    operations.append(["operationType": "forceUpdate", "record": .object(share)])
    return device.modifyShared(operations, in: place.zone).last ?? .noAnswer
  }

  /// The names in the list of a share.
  func users(of place: SharedPlace) -> Set<String> { listed[place] ?? [] }
}
