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

  /// How much memory all takes.
  var bytes: Int { kinds.memoryBytes + infos.memoryBytes + places.bytes }

  /// Whether to call ``renumber()`` is worth it for so many owners.
  func isWorthRenumbering(owners: Int) -> Bool {
    Renumbering.isWorthIt(free: kinds.freeCount, used: kinds.count, mentions: owners)
      || Renumbering.isWorthIt(free: infos.freeCount, used: infos.count, mentions: owners)
  }

  /// Leaves out the numbers that are free; owners must be told.
  mutating func renumber() -> (contents: Renumbering, infos: Renumbering) {
    places = places.indices.filter { kinds.isUsed(UInt32($0)) }.map { places[$0] }
    return (kinds.renumber(), infos.renumber())
  }

  /// Notes that the entries of a record type, or zone and database subscriptions, have other numbers.
  mutating func renumberEntries(of type: Int32?, _ renumbering: Renumbering) {
    for number in places.indices where kinds.isUsed(UInt32(number)) && places[number].type == type {
      places[number] = Place(
        type: type, entry: Int32(renumbering[UInt32(places[number].entry)]))
    }
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
