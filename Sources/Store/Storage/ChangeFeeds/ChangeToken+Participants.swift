extension ChangeToken {
  /// The position of a participant in the feed of another user's zone. It is that of one user, and
  /// of the shares that the user took part in when the token was made. A user who accepts one more
  /// share of the zone gets its records from the beginning.
  struct Reader: Equatable {
    var user: String
    /// In the order of the shares' numbers.
    var parts: [Part]
  }

  /// The position of a participant in one share.
  struct Part: Equatable {
    var share: Int64
    /// The number of the root record; nil for the share of the whole zone.
    var root: Int64?
    /// The number of the change with which the user joined.
    var joined: Int64
    /// The place up to which the user has read the hierarchy.
    var position = Place(version: 0, number: .max)
    /// The version of the zone when the user began to read the share. The user never had the
    /// records that left the hierarchy before.
    var base: Int64
    /// For a share that has ended for the user, the place up to which its records were reported as
    /// deleted.
    var cursor: Place?

    var membership: [Int64] { [share, joined] }

    init(beginningOf membership: ZoneMembership, at version: Int64) {
      share = membership.share
      root = membership.root
      joined = membership.joined
      base = version
    }
  }

  /// A place in the order of a hierarchy's changes. A change that moves a subtree gives all its
  /// records one version, so the record's number belongs to the place.
  struct Place: Hashable, Comparable {
    var version: Int64
    var number: Int64

    static func < (one: Place, other: Place) -> Bool {
      (one.version, one.number) < (other.version, other.number)
    }
  }
}

extension ChangeToken {
  /// Returns whether the token of a zone is one of its owner, or of the participant who asks.
  ///
  /// - Parameter present: the participant with the present shares; nil for the owner.
  func isUsable(by present: Reader?, in zone: ZoneTable.State) -> Bool {
    guard let reader, let present else { return reader == nil && present == nil }
    let memberships = present.parts.map(\.membership)
    let isWhole = { (reader: Reader) in reader.parts.contains { $0.root == nil } }
    return reader.user == present.user && isWhole(reader) == isWhole(present)
      && reader.parts.contains { memberships.contains($0.membership) }
      && reader.parts.allSatisfy {
        $0.root == nil || max($0.position.version, $0.base) >= zone.trimmedVersion
      }
  }
}

extension ChangeToken.Reader {
  init(decoding decoder: inout RowDecoder) throws {
    user = try decoder.decodeText()
    parts = try decoder.decodeEach { try ChangeToken.Part(decoding: &$0) }
  }

  func encode(to encoder: inout RowEncoder) {
    encoder.encode(user)
    encoder.encode(each: parts) { $1.encode(to: &$0) }
  }
}

extension ChangeToken.Part {
  fileprivate init(decoding decoder: inout RowDecoder) throws {
    share = try decoder.decodeInteger()
    root = try decoder.decodeOptional { try $0.decodeInteger() }
    joined = try decoder.decodeInteger()
    position = try ChangeToken.Place(decoding: &decoder)
    base = try decoder.decodeInteger()
    cursor = try decoder.decodeOptional { try ChangeToken.Place(decoding: &$0) }
  }

  fileprivate func encode(to encoder: inout RowEncoder) {
    encoder.encode(share)
    encoder.encode(optional: root) { $0.encode($1) }
    encoder.encode(joined)
    position.encode(to: &encoder)
    encoder.encode(base)
    encoder.encode(optional: cursor) { $1.encode(to: &$0) }
  }
}

extension ChangeToken.Place {
  fileprivate init(decoding decoder: inout RowDecoder) throws {
    version = try decoder.decodeInteger()
    number = try decoder.decodeInteger()
  }

  fileprivate func encode(to encoder: inout RowEncoder) {
    encoder.encode(version)
    encoder.encode(number)
  }
}
