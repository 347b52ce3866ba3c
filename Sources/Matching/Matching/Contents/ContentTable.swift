import CloudKitModel

/// The table of the contents of subscriptions: kinds and notification infos, each stored once.
///
/// A kind has a number, a use count and the place of its entry. An *entry* is the predicate that
/// subscriptions share. An info has a number and a use count. Balance each call of `use` with a
/// call of ``release(_:)`` or ``releaseInfo(_:)``.
struct ContentTable: Sendable {
  /// The place of an entry in the index.
  struct Place: BitwiseCopyable, Hashable, Sendable {
    /// The number of the record type; -1 for none.
    private let typeOrNone: Int32
    /// The slot of the entry in the ``RecordTypeIndex``, or the number of the
    /// ``SubscriptionIndex/Feed``.
    let entry: Int32

    init(type: Int32?, entry: Int32) {
      typeOrNone = type ?? -1
      self.entry = entry
    }

    /// The number of the record type; `nil` for zone and database subscriptions.
    var type: Int32? { typeOrNone < 0 ? nil : typeOrNone }
  }

  private var kinds: InternedBytes
  /// The place of the entry of each kind, by the kind's number.
  private var places: [Place] = []
  private var infos: InternedBytes

  /// Creates an empty table.
  init(seed: UInt64) {
    kinds = InternedBytes(seed: seed)
    infos = InternedBytes(seed: seed)
  }

  var count: Int { kinds.count }

  /// Returns the number of a kind, and whether the kind is new. Counts one more use.
  ///
  /// The caller must call ``setPlace(_:of:)`` if the kind is new, and ``release(_:)`` once for each
  /// use.
  ///
  /// - Complexity: O(*n*), on average, amortized, where *n* is the size of the kind in bytes.
  mutating func use(_ kind: Subscription.Kind) -> (number: UInt32, isNew: Bool) {
    ContentEncoder.bytes(of: kind).withUnsafeBytes { kinds.use($0) }
  }

  /// - Complexity: O(1)
  mutating func setPlace(_ place: Place, of number: UInt32) {
    if number == places.count { places.append(place) } else { places[Int(number)] = place }
  }

  func place(of number: UInt32) -> Place { places[Int(number)] }

  /// - Complexity: O(*n*), where *n* is the size of the kind in bytes: each call decodes it anew.
  func kind(_ number: UInt32) -> Subscription.Kind {
    kinds.withBytes(of: number) { ContentDecoder.kind($0) }
  }

  /// Subtracts one use of a kind. The last call removes the kind.
  mutating func release(_ number: UInt32) {
    kinds.release(number)
    if count == 0 { places = [] }
  }

  var bytes: Int { kinds.memoryBytes + infos.memoryBytes + places.bytes }

  /// Whether a call of ``renumber()`` frees enough memory to be worth its cost.
  ///
  /// - Parameter owners: The number of owners. Each owner stores the number of a kind and of an
  ///   info.
  func isWorthRenumbering(owners: Int) -> Bool {
    Renumbering.isWorthIt(free: kinds.freeCount, used: kinds.count, mentions: owners)
      || Renumbering.isWorthIt(free: infos.freeCount, used: infos.count, mentions: owners)
  }

  /// Numbers the kinds and the infos anew, without gaps. The caller must update the numbers in the
  /// owners with ``OwnerTable/renumber(contents:infos:)``.
  ///
  /// - Complexity: O(*n*), where *n* is the number of kinds and infos, the free ones included.
  mutating func renumber() -> (contents: Renumbering, infos: Renumbering) {
    places = places.indices.filter { kinds.isUsed(UInt32($0)) }.map { places[$0] }
    return (kinds.renumber(), infos.renumber())
  }

  /// Replaces the entry numbers in the places of a record type, after the index of the type was
  /// renumbered.
  ///
  /// - Parameter type: The number of the record type; `nil` for zone and database subscriptions.
  /// - Complexity: O(*n*), where *n* is the number of kinds, the free ones included.
  mutating func renumberEntries(of type: Int32?, _ renumbering: Renumbering) {
    for number in places.indices where kinds.isUsed(UInt32(number)) && places[number].type == type {
      places[number] = Place(
        type: type, entry: Int32(renumbering[UInt32(places[number].entry)]))
    }
  }

  /// Returns the number of a notification info and counts one more use; 0 for `nil`.
  ///
  /// The caller must call ``releaseInfo(_:)`` once for each use.
  mutating func use(_ info: NotificationInfo?) -> UInt32 {
    guard let info else { return 0 }
    return ContentEncoder.bytes(of: info).withUnsafeBytes { infos.use($0).number } + 1
  }

  /// Returns the notification info with a number; `nil` for 0.
  func info(_ number: UInt32) -> NotificationInfo? {
    number == 0 ? nil : infos.withBytes(of: number - 1) { ContentDecoder.notificationInfo($0) }
  }

  /// Subtracts one use of an info. The last call removes the info. The number 0 does nothing.
  mutating func releaseInfo(_ number: UInt32) {
    if number > 0 { infos.release(number - 1) }
  }
}
