import CloudKitModel
import StoreModel

/// A part of the value index in memory, as searches need it: the keys of a field by record numbers, or
/// the numbers of the records with one key.
enum SearchCacheEntry: Sendable {
  struct Name: Hashable, Sendable {
    var database: DatabaseID
    /// The field's number, or that of its words.
    var field: Int64
    /// The key that its records have; nil for the keys of all.
    var key: [UInt8]?
  }

  case column(KeyColumn)
  case list(PostingList)

  /// The last number that its database had drawn when it was so.
  var version: Int64 {
    switch self {
    case .column(let column): column.version
    case .list(let list): list.version
    }
  }

  /// Memory for it, in bytes, about.
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
  /// Reads an entry as the session's transaction sees the index; nil when it would be larger than
  /// the limit, in bytes, or the database is gone.
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
