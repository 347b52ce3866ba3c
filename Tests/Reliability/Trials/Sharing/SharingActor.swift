import HistoryChecking
import JSONCoding
import Synchronization

/// A user of shares: the device, and what it did and saw.
///
/// It is used by one thread at a time.
class SharingActor: @unchecked Sendable {
  /// The links of the shares, which the owner hands out.
  final class Links: Sendable {
    private let links = Mutex<[SharedPlace: String]>([:])

    subscript(place: SharedPlace) -> String? {
      get { links.withLock { $0[place] } }
      set { links.withLock { $0[place] = newValue } }
    }
  }

  let device: CloudDevice
  let recordName: String
  let epoch: Int
  let places: [SharedPlace]
  var history = SharingHistory()
  var generator: SplitMix64
  private var count = 0
  private var logToken: String?
  /// All entries of the log, read from token to token.
  private(set) var entries: [CloudDevice.SharedEntry] = []

  init(
    _ device: CloudDevice, recordName: String, epoch: Int, seed: UInt64, logToken: String?
  ) {
    self.device = device
    self.recordName = recordName
    self.epoch = epoch
    self.logToken = logToken
    places = SharedPlace.all(epoch)
    generator = SplitMix64(seed: seed)
  }

  var name: String { device.user }

  func pick<Element>(_ elements: [Element]) -> Element? {
    elements.randomElement(using: &generator)
  }

  func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &generator) == 0 }

  // MARK: Records

  /// Creates a record of its own name.
  ///
  /// - Parameter owner: the zone's owner, if it is another user.
  func create(in place: SharedPlace, isShared: Bool = true, owner: String? = nil) {
    count += 1
    let record = (isShared ? "" : SharedPlace.unshared) + "\(name)-\(epoch)-\(count)"
    create(record, below: isShared ? place.parent : nil, in: place, isShared: isShared, owner)
  }

  func create(
    _ record: String, below parent: String?, in place: SharedPlace, isShared: Bool,
    _ owner: String? = nil
  ) {
    var json: [String: JSONValue] = [
      "recordName": .string(record), "recordType": .string(SharedPlace.type(epoch)),
      "fields": ["level": ["value": 1]],
    ]
    json["parent"] = parent.map { ["recordName": .string($0)] }
    change(
      "create", .object(json), SharingHistory.Change.Subject(name: record, isDeletion: false),
      in: place, isShared: isShared, owner)
  }

  /// Carries out a change of one record, and writes down what is known of it.
  ///
  /// - Returns: whether it was done.
  @discardableResult
  func change(
    _ operation: String, _ record: JSONValue, _ subject: SharingHistory.Change.Subject,
    in place: SharedPlace, isShared: Bool, _ owner: String? = nil
  ) -> Bool {
    let began = TrialClock.now
    let reply = device.modifyShared(
      [["operationType": .string(operation), "record": record]], in: place.zone, of: owner)[0]
    var span = Span(began: began, ended: TrialClock.now)
    let hasHappened: Bool?
    switch reply {
    case .item: hasHappened = true
    case .failure("INTERNAL_ERROR"), .noAnswer:
      hasHappened = nil
      span.ended = Span.never
    case .failure: hasHappened = false
    }
    history.changes.append(
      SharingHistory.Change(
        user: name, share: isShared ? place.zone : nil, subject: subject, span: span,
        hasHappened: hasHappened))
    return hasHappened == true
  }

  // MARK: Parts

  func note(
    _ effect: SharingHistory.PartEvent.Effect, of user: String, in place: SharedPlace,
    since began: Int64, isCertain: Bool = true
  ) {
    history.parts.append(
      SharingHistory.PartEvent(
        user: user, share: place.zone, effect: effect,
        span: Span(began: began, ended: TrialClock.now), isCertain: isCertain))
  }

  // MARK: The log

  /// Reads on where the last reading ended.
  @discardableResult
  func readLog() -> Bool {
    guard let page = device.readSharedLog(since: logToken, prefix: SharedPlace.prefix(epoch)) else {
      return false
    }
    logToken = page.token
    entries += page.entries
    return true
  }

  /// Where the log ends now.
  var endOfLog: String? { logToken }

  // MARK: Working

  func step() {}

  /// Finishes what waits for an answer.
  ///
  /// - Returns: whether nothing waits any more.
  func settle() -> Bool { true }

  /// Works until `goesOn` returns false.
  func run(while goesOn: () -> Bool) {
    while goesOn() { step() }
    device.hangUp()
  }
}
