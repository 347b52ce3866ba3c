import CloudKitModel

/// An order of candidates by the cached columns (``KeyColumn``) of the first one or two sort keys.
/// A *candidate* is a record that may match; its row is not read to order it.
///
/// A *rank* is a record's position in this order. The search reads the candidates in the order of
/// their ranks, and stops when the page is full. So it reads few more records than the page has.
struct CandidateRanking {
  /// The rank of a record. Records with lower ranks come first in the order of the query. Ranks by
  /// distances that are too close decide nothing (``isSurelyBefore(_:_:)``).
  struct Rank: Comparable {
    /// The rank by the first sort key.
    fileprivate(set) var first: UInt64
    /// The rank by the second sort key; 0 without one.
    fileprivate(set) var second: UInt64 = 0

    static func < (left: Rank, right: Rank) -> Bool {
      left.first == right.first ? left.second < right.second : left.first < right.first
    }
  }

  /// One sort key with the cached column of its field.
  private struct Part {
    /// The column: the keys of the field, by record numbers.
    let column: KeyColumn
    /// The direction of the sort key.
    let isAscending: Bool
    /// The computation of distances for a sort by distance; nil for another sort.
    let distance: PlaceDistance?

    /// Creates the part for a sort key.
    init(_ sortKey: SortKey, _ column: KeyColumn) {
      self.column = column
      isAscending = sortKey.ascending
      distance = sortKey.relativeLocation.map { PlaceDistance(from: $0) }
    }

    /// Returns a record's rank by this sort key; nil if the record has no value.
    func place(of number: Int64) -> UInt64? { column[number].map { place(ofStored: $0) } }

    /// Returns the rank for a key of the column.
    func place(ofStored key: UInt64) -> UInt64 {
      directed(distance.map { Self.steps($0.metres(to: key)) } ?? key)
    }

    /// Returns the rank for a value of the field; nil for a value that the index does not contain.
    /// For a sort by distance, the value is the distance in metres.
    func place(of value: RecordValue) -> UInt64? {
      if distance != nil {
        guard case .double(let metres) = value else { return nil }
        return directed(Self.steps(metres))
      }
      return ValueKey.key(of: value).map { directed(IndexKey($0).head) }
    }

    /// Returns the rank for a key of the value index.
    func place(of key: [UInt8]) -> UInt64 { directed(IndexKey(key).head) }

    /// Inverts a rank if the sort key is descending.
    private func directed(_ place: UInt64) -> UInt64 { isAscending ? place : ~place }

    /// The number of ranks for each metre of distance.
    static let stepsInMetre = 16.0
    /// Returns the rank for a distance in metres, before ``directed(_:)``.
    private static func steps(_ metres: Double) -> UInt64 { UInt64(metres * stepsInMetre) }
  }

  /// The first sort key.
  private let first: Part
  /// The second sort key; nil if it does not refine the order.
  private var second: Part?
  /// The difference up to which two ranks by the first sort key do not decide the order: 0 for
  /// exact keys, and twice the greatest error for distances.
  private let slack: UInt64

  /// Creates a ranking by the first sort key.
  ///
  /// - Parameter column: the cached column of the sort key's field.
  init(by sortKey: SortKey, _ column: KeyColumn) {
    first = Part(sortKey, column)
    slack = first.distance == nil ? 0 : UInt64(2 * PlaceDistance.error * Part.stepsInMetre)
  }

  /// The cost of a rank, as a multiple of the cost of a key lookup: 1, or 3 for a sort by distance,
  /// because a distance must be computed.
  var effort: Double { slack == 0 ? 1 : 3 }

  /// Whether a second sort key can refine the order: the first one must decide the order of all
  /// records with different values.
  var mayGoOn: Bool { slack == 0 }

  /// Refines the order by the second sort key. Call the method only if ``mayGoOn``.
  mutating func goOn(by sortKey: SortKey, _ column: KeyColumn) {
    // An imprecise distance as the second rank would decide nothing.
    if sortKey.relativeLocation == nil { second = Part(sortKey, column) }
  }

  /// Returns the rank of a record; nil for a record without a value for the first sort key. Records
  /// without a rank come last.
  func rank(of number: Int64) -> Rank? {
    first.column[number].flatMap { rank(of: number, key: $0, upTo: nil) }
  }

  /// Visits these records with their keys in the column of the first sort key.
  ///
  /// - Parameter visit: gets a record number and the key; nil for a record without a value.
  func visitKeys(of numbers: RecordNumberSet, _ visit: (Int64, UInt64?) -> Void) {
    first.column.visitKeys(of: numbers, visit)
  }

  /// Returns the rank of a record, from its key in the first column.
  ///
  /// - Parameters:
  ///   - number: the number of the record.
  ///   - key: the record's key in the column of the first sort key.
  ///   - bound: the highest wanted rank; nil for no limit.
  /// - Returns: nil if the first sort key alone ranks the record after `bound`.
  func rank(of number: Int64, key: UInt64, upTo bound: Rank?) -> Rank? {
    let place = first.place(ofStored: key)
    if let bound, bound.first < place { return nil }
    return Rank(first: place, second: second.map { Self.last($0.place(of: number)) } ?? 0)
  }

  /// Returns the rank of a place in the order of the query; nil for a place without a value for the
  /// first sort key.
  func rank(of place: RecordOrder.Place) -> Rank? {
    guard let value = place.values.first ?? nil else { return nil }
    return first.place(of: value).map { rank in
      Rank(
        first: rank,
        second: second.map { part in Self.last(place.values[1].flatMap { part.place(of: $0) }) }
          ?? 0)
    }
  }

  /// Returns whether a record with this rank may have a certain value for the first sort key.
  ///
  /// - Parameters:
  ///   - rank: the rank; nil for a record without a value.
  ///   - shared: the value, or its absence (``SortedSearch/Shared``).
  func may(_ rank: Rank?, have shared: SortedSearch.Shared) -> Bool {
    switch shared {
    case .absence: rank == nil
    case .key(let key):
      rank.map { first.distance != nil || $0.first == first.place(of: key) } ?? false
    }
  }

  /// Returns whether every record of the left rank comes before every record of the right rank.
  func isSurelyBefore(_ left: Rank, _ right: Rank) -> Bool {
    slack == 0 ? left < right : left.first < right.first && right.first - left.first > slack
  }

  /// Returns a rank by the second sort key in which records without a value come last. To make a
  /// greatest rank free for them, each rank is halved. So two neighbouring keys have one rank.
  private static func last(_ place: UInt64?) -> UInt64 { place.map { $0 >> 1 } ?? .max }
}
