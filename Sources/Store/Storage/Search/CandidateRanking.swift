import CloudKitModel

/// An order of candidates by the cached columns (``KeyColumn``) of the first one or two sort keys.
/// A *candidate* is a record that may match; its row is not read to order it.
///
/// A *rank* is a record's position in this order. The search reads candidates by their ranks until
/// the page is full, so it reads few more records than the page has.
struct CandidateRanking {
  /// Lower ranks come first in the order of the query. Ranks by distances that are too close
  /// decide nothing (``isSurelyBefore(_:_:)``).
  struct Rank: Comparable {
    fileprivate(set) var first: UInt64
    /// 0 without a second sort key.
    fileprivate(set) var second: UInt64 = 0

    static func < (left: Rank, right: Rank) -> Bool {
      left.first == right.first ? left.second < right.second : left.first < right.first
    }
  }

  /// One sort key with the cached column of its field.
  private struct Part {
    /// The keys by record numbers.
    let column: KeyColumn
    let isAscending: Bool
    let distance: PlaceDistance?

    init(_ sortKey: SortKey, _ column: KeyColumn) {
      self.column = column
      isAscending = sortKey.ascending
      distance = sortKey.relativeLocation.map { PlaceDistance(from: $0) }
    }

    func place(of number: Int64) -> UInt64? { column[number].map { place(ofStored: $0) } }

    func place(ofStored key: UInt64) -> UInt64 {
      directed(distance.map { Self.steps($0.metres(to: key)) } ?? key)
    }

    /// nil for a value that the index does not contain. For a sort by distance, the value is in
    /// metres.
    func place(of value: RecordValue) -> UInt64? {
      if distance != nil {
        guard case .double(let metres) = value else { return nil }
        return directed(Self.steps(metres))
      }
      return ValueKey.key(of: value).map { directed(IndexKey($0).head) }
    }

    func place(of key: [UInt8]) -> UInt64 { directed(IndexKey(key).head) }

    private func directed(_ place: UInt64) -> UInt64 { isAscending ? place : ~place }

    static let stepsInMetre = 16.0
    private static func steps(_ metres: Double) -> UInt64 { UInt64(metres * stepsInMetre) }
  }

  private let first: Part
  /// The second sort key; nil if it does not refine the order.
  private var second: Part?
  /// The difference up to which ranks by the first sort key do not decide the order: 0 for exact
  /// keys, twice the greatest error for distances.
  private let slack: UInt64

  init(by sortKey: SortKey, _ column: KeyColumn) {
    first = Part(sortKey, column)
    slack = first.distance == nil ? 0 : UInt64(2 * PlaceDistance.error * Part.stepsInMetre)
  }

  /// The cost as a multiple of a key lookup's. A sort by distance computes a distance.
  var effort: Double { slack == 0 ? 1 : 3 }

  /// The first sort key must decide the order of all records with different values.
  var mayGoOn: Bool { slack == 0 }

  /// Adds the second sort key. Requires ``mayGoOn``.
  mutating func goOn(by sortKey: SortKey, _ column: KeyColumn) {
    // An imprecise distance as the second rank would decide nothing.
    if sortKey.relativeLocation == nil { second = Part(sortKey, column) }
  }

  func rank(of number: Int64) -> Rank? {
    first.column[number].flatMap { rank(of: number, key: $0, upTo: nil) }
  }

  func visitKeys(of numbers: RecordNumberSet, _ visit: (Int64, UInt64?) -> Void) {
    first.column.visitKeys(of: numbers, visit)
  }

  func rank(of number: Int64, key: UInt64, upTo bound: Rank?) -> Rank? {
    let place = first.place(ofStored: key)
    if let bound, bound.first < place { return nil }
    return Rank(first: place, second: second.map { Self.last($0.place(of: number)) } ?? 0)
  }

  func rank(of place: RecordOrder.Place) -> Rank? {
    guard let value = place.values.first ?? nil else { return nil }
    return first.place(of: value).map { rank in
      Rank(
        first: rank,
        second: second.map { part in Self.last(place.values[1].flatMap { part.place(of: $0) }) }
          ?? 0)
    }
  }

  /// A rank of nil is that of a record without a value; `shared` is a value of the first sort key,
  /// or its absence.
  func may(_ rank: Rank?, have shared: SortedSearch.Shared) -> Bool {
    switch shared {
    case .absence: rank == nil
    case .key(let key):
      rank.map { first.distance != nil || $0.first == first.place(of: key) } ?? false
    }
  }

  func isSurelyBefore(_ left: Rank, _ right: Rank) -> Bool {
    slack == 0 ? left < right : left.first < right.first && right.first - left.first > slack
  }

  /// A rank in which records without a value come last. Each rank is halved to make the greatest
  /// one free for them, so two neighbouring keys have one rank.
  private static func last(_ place: UInt64?) -> UInt64 { place.map { $0 >> 1 } ?? .max }
}
