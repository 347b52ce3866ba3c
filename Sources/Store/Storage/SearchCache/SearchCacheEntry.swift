import StoreModel

/// A part of the value index in the search cache (``SearchCache``). A *column* has the keys of one
/// field by record numbers. A *list* has the numbers of the records that have one key.
enum SearchCacheEntry: Sendable {
  /// The database, the field, and for a list the key.
  struct Name: Hashable, Sendable {
    var database: DatabaseID
    /// Or of the field's words (``RecordTypeEntry/Field/tokenNumber``).
    var field: Int64
    var key: [UInt8]?
  }

  case column(KeyColumn)
  case list(PostingList)

  var version: Int64 {
    switch self {
    case .column(let column): column.version
    case .list(let list): list.version
    }
  }

  /// About, in bytes, for the limit of the cache.
  var size: Int {
    switch self {
    case .column(let column): column.size
    case .list(let list): list.size
    }
  }

  var column: KeyColumn? {
    if case .column(let column) = self { column } else { nil }
  }

  var list: PostingList? {
    if case .list(let list) = self { list } else { nil }
  }
}

extension SearchCacheEntry {
  /// Reads all index entries of the field, or of the key. nil if the entry would exceed `limit`
  /// bytes, or if the database does not exist.
  init?(reading name: Name, upTo limit: Int, in transaction: StoreTransaction) throws {
    guard
      let version = try DatabaseTable(transaction: transaction).lastNumber(drawnIn: name.database)
    else { return nil }
    do {
      self =
        if let key = name.key {
          .list(try PostingList(reading: name, key, version: version, upTo: limit, in: transaction))
        } else {
          .column(try KeyColumn(reading: name, version: version, upTo: limit, in: transaction))
        }
    } catch is TooLarge {
      return nil
    }
  }

  /// The error of an entry that exceeds its limit.
  fileprivate struct TooLarge: Error {}
}

extension KeyColumn {
  fileprivate init(
    reading name: SearchCacheEntry.Name, version: Int64, upTo limit: Int,
    in transaction: StoreTransaction
  ) throws {
    self.init(version: version)
    try ValueIndexTable(transaction: transaction).visitKeys(inField: name.field, of: name.database)
    {
      number, key in
      self[number] = key.head
      if size > limit { throw SearchCacheEntry.TooLarge() }
    }
  }
}

extension PostingList {
  fileprivate init(
    reading name: SearchCacheEntry.Name, _ key: [UInt8], version: Int64, upTo limit: Int,
    in transaction: StoreTransaction
  ) throws {
    self.init(version: version)
    try ValueIndexTable(transaction: transaction).visitNumbers(
      with: key, inField: name.field, of: name.database
    ) { number in
      self[number] = true
      if size > limit { throw SearchCacheEntry.TooLarge() }
    }
  }
}

/// The numbers of the records with one key in a field, or one word in its texts, in memory.
///
/// - Complexity: the memory is an eighth of a byte for each record of the database, if the listed
///   numbers are close together (``RecordNumberSet``).
struct PostingList: Sendable {
  var version: Int64
  private(set) var numbers = RecordNumberSet()

  var size: Int { numbers.size }

  subscript(number: Int64) -> Bool {
    get { numbers.contains(number) }
    set {
      if newValue { numbers.insert(number) } else { numbers.remove(number) }
    }
  }
}
