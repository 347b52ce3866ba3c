import CloudKitModel
import StoreModel

/// A part of the value index in the search cache (``SearchCache``). A *column* has the keys of one
/// field by record numbers. A *list* has the numbers of the records that have one key.
enum SearchCacheEntry: Sendable {
  /// The name of an entry: the database, the field, and for a list the key.
  struct Name: Hashable, Sendable {
    var database: DatabaseID
    /// The number of the field, or of its words (``RecordTypeEntry/Field/tokenNumber``).
    var field: Int64
    /// The key that the records of a list have; nil for a column.
    var key: [UInt8]?
  }

  /// A column: the keys of one field.
  case column(KeyColumn)
  /// A list: the records with one key.
  case list(PostingList)

  /// The last number that the database had drawn when the entry had this state (``DatabaseTable/nextNumber(of:)``).
  var version: Int64 {
    switch self {
    case .column(let column): column.version
    case .list(let list): list.version
    }
  }

  /// The approximate memory in bytes.
  var size: Int {
    switch self {
    case .column(let column): column.size
    case .list(let list): list.size
    }
  }

  /// The column; nil for a list.
  var column: KeyColumn? {
    if case .column(let column) = self { column } else { nil }
  }

  /// The list; nil for a column.
  var list: PostingList? {
    if case .list(let list) = self { list } else { nil }
  }
}

extension SearchCacheEntry {
  /// Reads an entry from the value index, as the transaction sees the index. All index entries of
  /// the field, or of the key, are read.
  ///
  /// The result is nil if the entry would exceed `limit` bytes, or if the database does not exist.
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

  /// The error of reading an entry that exceeds its limit.
  fileprivate struct TooLarge: Error {}
}

extension KeyColumn {
  /// Reads all keys of a field.
  ///
  /// - Throws: ``SearchCacheEntry/TooLarge`` if the column exceeds `limit` bytes.
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
  /// Reads the numbers of all records with a key.
  ///
  /// - Throws: ``SearchCacheEntry/TooLarge`` if the list exceeds `limit` bytes.
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
