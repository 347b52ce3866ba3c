import HistoryChecking
import JSONCoding

/// A participant: accepts shares and leaves them, saves records, and reads.
final class SharingParticipant: SharingActor, @unchecked Sendable {
  /// An acceptance or a departure that is repeated until it is answered.
  private struct Request {
    var place: SharedPlace
    var isAcceptance: Bool
    var began: Int64
    var attempts = 0
  }

  private struct Replica {
    var names: Set<String> = []
    var token: String?
  }

  private var request: Request?
  private var replicas: [SharedPlace: Replica] = [:]
  private let links: Links
  private let owner: String
  /// Whether the user stays in each share.
  let isSteady: Bool

  init(
    _ device: CloudDevice, recordName: String, epoch: Int, seed: UInt64, logToken: String?,
    owner: String, isSteady: Bool, links: Links
  ) {
    self.owner = owner
    self.isSteady = isSteady
    self.links = links
    super.init(device, recordName: recordName, epoch: epoch, seed: seed, logToken: logToken)
  }

  func prepare() {
    device.subscribeShared(SharedPlace.prefix(epoch) + name, scope: "shared")
    for place in places { accept(place) }
  }

  override func step() {
    guard settle() else { return TrialClock.pause(seconds: 0.002) }
    guard let place = pick(places) else { return }
    switch Int.random(in: 0..<12, using: &generator) {
    case 0..<4: create(in: place, owner: owner)
    case 4..<7: accept(place)
    case 7 where !isSteady && chance(2): ask(place, isAcceptance: false)
    case 7, 8: readLog()
    case 9: _ = names(in: place)
    default: look(at: place)
    }
  }

  // MARK: Parts

  func accept(_ place: SharedPlace) { ask(place, isAcceptance: true) }

  private func ask(_ place: SharedPlace, isAcceptance: Bool) {
    request = Request(place: place, isAcceptance: isAcceptance, began: TrialClock.now)
    _ = settle()
  }

  override func settle() -> Bool {
    guard let request, let link = links[request.place] else { return true }
    self.request?.attempts += 1
    let place = request.place
    if request.isAcceptance {
      switch device.accept(link) {
      case .item: note(.accepted, of: name, in: place, since: request.began)
      case let reply where reply.isAbsent || reply.isUninvited:
        // An earlier attempt may have succeeded, before the owner removed the user.
        if request.attempts > 0 {
          note(.accepted, of: name, in: place, since: request.began, isCertain: false)
        }
      case .failure, .noAnswer: return false
      }
    } else {
      let reply = device.modifyShared(
        [["operationType": "forceDelete", "record": ["recordName": .string(place.shareName)]]],
        in: place.zone, of: owner)[0]
      switch reply {
      case .item: note(.left, of: name, in: place, since: request.began)
      case _ where reply.isAbsent: note(.left, of: name, in: place, since: request.began)
      case .failure, .noAnswer: return false
      }
    }
    self.request = nil
    return true
  }

  // MARK: Reading

  /// Looks at a record of a share.
  ///
  /// - Returns: whether it is there; nil without an answer.
  @discardableResult
  func look(at place: SharedPlace) -> Bool? {
    let began = TrialClock.now
    let reply = device.lookUpShared(place.anchor, in: place.zone, of: owner)
    let hasSeen: Bool
    switch reply {
    case .item: hasSeen = true
    case _ where reply.isAbsent: hasSeen = false
    case .failure, .noAnswer: return nil
    }
    history.looks.append(
      SharingHistory.Look(
        user: name, share: place.zone, span: Span(began: began, ended: TrialClock.now),
        hasSeen: hasSeen))
    return hasSeen
  }

  /// The names of the records in the user's copy of a share, after it has read the feed.
  ///
  /// - Returns: the names; nil without a part or an answer.
  func names(in place: SharedPlace) -> Set<String>? {
    let replica = replicas[place] ?? Replica()
    let reading = device.readNames(
      in: place.zone, of: owner, since: replica.token, names: replica.names)
    switch reading {
    case .success(let new):
      replicas[place] = Replica(names: new.names, token: new.token)
      return new.names
    case .failure:
      // The token has expired, or the part has ended.
      replicas[place] = nil
      guard replica.token != nil else { return nil }
      return names(in: place)
    case nil: return nil
    }
  }
}
