import CloudKitModel
import StoreModel

/// A cached part of the value index: the keys of a field by record numbers, or the numbers of the
/// records with one key.
enum SearchCacheEntry: Sendable {
  /// The name of an entry: a field of a database, and a key for a list.
  struct Name: Hashable, Sendable {
    var database: DatabaseID
    /// The field's number, or that of its words.
    var field: Int64
    /// The key of its records; nil for a column with the keys of all records.
    var key: [UInt8]?
  }

  /// The keys of a field.
  case column(KeyColumn)
  /// The records with one key.
  case list(PostingList)

  /// The last number that the database had drawn at this state.
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
  /// Reads an entry as the transaction sees the index. It reads all entries of the field, or of the
  /// key.
  ///
  /// It is nil if it would exceed `limit` bytes or the database is gone.
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

  /// An error of reading an entry that exceeds its limit.
  fileprivate struct TooLarge: Error {}
}

extension KeyColumn {
  /// Reads all keys of a field.
  ///
  /// - Throws: ``SearchCacheEntry/TooLarge`` if they exceed `limit` bytes.
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
  /// - Throws: ``SearchCacheEntry/TooLarge`` if they exceed `limit` bytes.
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
