import CloudKitModel

/// What subscriptions ask for, each once, with the entry that finds it.
struct ContentTable: Sendable {
  /// Where an entry is.
  struct Place: BitwiseCopyable, Hashable, Sendable {
    private let typeOrNone: Int32
    let entry: Int32

    init(type: Int32?, entry: Int32) {
      typeOrNone = type ?? -1
      self.entry = entry
    }

    /// The number of the record type; nil for zone and database subscriptions.
    var type: Int32? { typeOrNone < 0 ? nil : typeOrNone }
  }

  private var kinds: InternedBytes
  private var places: [Place] = []
  private var infos: InternedBytes

  init(seed: UInt64) {
    kinds = InternedBytes(seed: seed)
    infos = InternedBytes(seed: seed)
  }

  var count: Int { kinds.count }

  /// The number of what a subscription asks for, which must be given back; a new one needs a place.
  mutating func use(_ kind: Subscription.Kind) -> (number: UInt32, isNew: Bool) {
    ContentEncoder.bytes(of: kind).withUnsafeBytes { kinds.use($0) }
  }

  mutating func setPlace(_ place: Place, of number: UInt32) {
    if number == places.count { places.append(place) } else { places[Int(number)] = place }
  }

  func place(of number: UInt32) -> Place { places[Int(number)] }

  func kind(_ number: UInt32) -> Subscription.Kind {
    kinds.withBytes(of: number) { ContentDecoder.kind($0) }
  }

  mutating func release(_ number: UInt32) {
    kinds.release(number)
    if count == 0 { places = [] }
  }

  /// The number of a notification info, which must be given back; 0 for none.
  mutating func use(_ info: NotificationInfo?) -> UInt32 {
    guard let info else { return 0 }
    return ContentEncoder.bytes(of: info).withUnsafeBytes { infos.use($0).number } + 1
  }

  func info(_ number: UInt32) -> NotificationInfo? {
    number == 0 ? nil : infos.withBytes(of: number - 1) { ContentDecoder.notificationInfo($0) }
  }

  mutating func releaseInfo(_ number: UInt32) {
    if number > 0 { infos.release(number - 1) }
  }
}
