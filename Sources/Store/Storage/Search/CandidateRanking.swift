import CloudKitModel

/// An order of records by their numbers, as far as the cached columns of the first one or two sort
/// keys determine it.
///
/// The search reads the candidates in the order of their ranks, and stops when the page is full. So
/// it reads few more records than the page has.
struct CandidateRanking {
  /// A record's rank. A record with a lower rank never comes after one with a higher rank, except
  /// when they are too close for the ranking to decide (``isSurelyBefore(_:_:)``).
  struct Rank: Comparable {
    /// The rank by the first sort key.
    fileprivate(set) var first: UInt64
    /// The rank by the second sort key; 0 without one.
    fileprivate(set) var second: UInt64 = 0

    static func < (left: Rank, right: Rank) -> Bool {
      left.first == right.first ? left.second < right.second : left.first < right.first
    }
  }

  /// The part of one sort key, with its cached column.
  private struct Part {
    /// The keys of the field, by record numbers.
    let column: KeyColumn
    /// The direction of the sort key.
    let isAscending: Bool
    /// The computation of distances, for a sort by distance; otherwise nil.
    let distance: PlaceDistance?

    /// Creates the part of a sort key.
    init(_ sortKey: SortKey, _ column: KeyColumn) {
      self.column = column
      isAscending = sortKey.ascending
      distance = sortKey.relativeLocation.map { PlaceDistance(from: $0) }
    }

    /// Returns the rank of a record for this key; nil if the record has no value.
    func place(of number: Int64) -> UInt64? { column[number].map { place(ofStored: $0) } }

    /// Returns the rank of a key of the column.
    func place(ofStored key: UInt64) -> UInt64 {
      directed(distance.map { Self.steps($0.metres(to: key)) } ?? key)
    }

    /// Returns the rank of a record's value for this key; nil for a value without a key. For a sort
    /// by distance, the value is the distance in metres.
    func place(of value: RecordValue) -> UInt64? {
      if distance != nil {
        guard case .double(let metres) = value else { return nil }
        return directed(Self.steps(metres))
      }
      return ValueKey.key(of: value).map { directed(IndexKey($0).head) }
    }

    /// Returns the rank of a key of the value index.
    func place(of key: [UInt8]) -> UInt64 { directed(IndexKey(key).head) }

    /// Returns the rank in the direction of the sort key.
    private func directed(_ place: UInt64) -> UInt64 { isAscending ? place : ~place }

    /// The ranks in a metre of distance.
    static let stepsInMetre = 16.0
    /// Returns the rank of a distance.
    private static func steps(_ metres: Double) -> UInt64 { UInt64(metres * stepsInMetre) }
  }

  /// The first sort key.
  private let first: Part
  /// The second sort key, if it refines the order.
  private var second: Part?
  /// The least difference of first ranks that decides the order: 0 for exact keys, twice the error
  /// for distances.
  private let slack: UInt64

  /// Creates a ranking by the first sort key.
  ///
  /// - Parameter column: the cached column of the key's field.
  init(by sortKey: SortKey, _ column: KeyColumn) {
    first = Part(sortKey, column)
    slack = first.distance == nil ? 0 : UInt64(2 * PlaceDistance.error * Part.stepsInMetre)
  }

  /// The cost of a rank as a multiple of a key lookup: a distance must be computed.
  var effort: Double { slack == 0 ? 1 : 3 }

  /// Whether the first key decides the order of all unequal values, so that a second key can refine
  /// it.
  var mayGoOn: Bool { slack == 0 }

  /// Refines the order by the second sort key. Call it only if ``mayGoOn``.
  mutating func goOn(by sortKey: SortKey, _ column: KeyColumn) {
    // A distance is imprecise, so it would decide nothing.
    if sortKey.relativeLocation == nil { second = Part(sortKey, column) }
  }

  /// Returns the rank of a record; nil for a record without a value for the first key. Such records
  /// come last.
  func rank(of number: Int64) -> Rank? {
    first.column[number].flatMap { rank(of: number, key: $0, upTo: nil) }
  }

  /// Visits the column's first keys of these records.
  func visitKeys(of numbers: RecordNumberSet, _ visit: (Int64, UInt64?) -> Void) {
    first.column.visitKeys(of: numbers, visit)
  }

  /// Returns the rank of a record whose first key is known; nil if that key alone ranks it after
  /// `bound`.
  func rank(of number: Int64, key: UInt64, upTo bound: Rank?) -> Rank? {
    let place = first.place(ofStored: key)
    if let bound, bound.first < place { return nil }
    return Rank(first: place, second: second.map { Self.last($0.place(of: number)) } ?? 0)
  }

  /// Returns the rank of a place in the order; nil for a place without a value for the first key.
  func rank(of place: RecordOrder.Place) -> Rank? {
    guard let value = place.values.first ?? nil else { return nil }
    return first.place(of: value).map { rank in
      Rank(
        first: rank,
        second: second.map { part in Self.last(place.values[1].flatMap { part.place(of: $0) }) }
          ?? 0)
    }
  }

  /// Returns whether a record of this rank may have the shared value of the first key.
  func may(_ rank: Rank?, have shared: SortedSearch.Shared) -> Bool {
    switch shared {
    case .absence: rank == nil
    case .key(let key):
      rank.map { first.distance != nil || $0.first == first.place(of: key) } ?? false
    }
  }

  /// Whether every record of the left rank comes before every record of the right rank.
  func isSurelyBefore(_ left: Rank, _ right: Rank) -> Bool {
    slack == 0 ? left < right : left.first < right.first && right.first - left.first > slack
  }

  /// Returns a second rank in which records without a value come last. Therefore each rank is
  /// halved, so two neighbours share one.
  private static func last(_ place: UInt64?) -> UInt64 { place.map { $0 >> 1 } ?? .max }
}
