import CloudKitModel

extension RowEncoder {
  mutating func encode(_ subscription: Subscription) {
    encode(subscription.subscriptionID)
    encodeWithoutID(subscription)
  }

  /// What comes after the ID.
  mutating func encodeWithoutID(_ subscription: Subscription) {
    switch subscription.kind {
    case .query(let query, let zoneID, let options):
      encode(byte: 1)
      encode(query)
      encode(optional: zoneID) { $0.encode($1) }
      encode(Int64(truncatingIfNeeded: options.rawValue))
    case .recordZone(let zoneID, let recordType):
      encode(byte: 2)
      encode(zoneID)
      encode(optional: recordType)
    case .database(let recordType):
      encode(byte: 3)
      encode(optional: recordType)
    }
    encode(optional: subscription.notificationInfo) { $0.encode($1) }
  }

  mutating func encode(_ query: Query) {
    encode(query.recordType)
    encode(each: query.filters) { $0.encode($1) }
    encode(each: query.sortKeys) {
      $0.encode($1.key)
      $0.encode($1.ascending)
      $0.encode(optional: $1.relativeLocation) { $0.encode($1) }
    }
  }

  private mutating func encode(_ filter: Filter) {
    encode(filter.key)
    encode(filter.comparator.rawValue)
    encode(optional: filter.value) { $0.encode($1) }
    encode(optional: filter.distance) { $0.encode($1) }
    encode(byte: filter.options.rawValue)
  }

  private mutating func encode(_ key: FieldKey) {
    switch key {
    case .field(let name):
      encode(byte: 1)
      encode(name)
    case .system(let field):
      encode(byte: 2)
      encode(field.rawValue)
    case .allText:
      encode(byte: 3)
    }
  }

  private mutating func encode(_ info: NotificationInfo) {
    for text in [
      info.alertBody, info.alertLocalizationKey, info.title, info.titleLocalizationKey,
      info.subtitle, info.subtitleLocalizationKey, info.alertActionLocalizationKey,
      info.alertLaunchImage, info.soundName, info.category, info.collapseIDKey,
    ] {
      encode(optional: text)
    }
    for names in [
      info.alertLocalizationArgs, info.titleLocalizationArgs, info.subtitleLocalizationArgs,
      info.desiredKeys,
    ] {
      encode(optional: names) { $0.encode(each: $1) { $0.encode($1) } }
    }
    encode(info.shouldBadge)
    encode(info.shouldSendContentAvailable)
    encode(info.shouldSendMutableContent)
  }
}

extension RowDecoder {
  mutating func decodeSubscription() throws -> Subscription {
    let subscriptionID = try decodeText()
    let kind: Subscription.Kind
    switch try decodeByte() {
    case 1:
      let query = try decodeQuery()
      let zoneID = try decodeOptional { try $0.decodeZoneID() }
      let options = Subscription.Options(rawValue: UInt(truncatingIfNeeded: try decodeInteger()))
      kind = .query(query, zoneID: zoneID, options: options)
    case 2:
      kind = .recordZone(try decodeZoneID(), recordType: try decodeOptionalText())
    case 3:
      kind = .database(recordType: try decodeOptionalText())
    case let code:
      throw damaged("has the unknown subscription kind \(code)")
    }
    return Subscription(
      subscriptionID: subscriptionID, kind: kind,
      notificationInfo: try decodeOptional { try $0.decodeNotificationInfo() })
  }

  private mutating func decodeQuery() throws -> Query {
    Query(
      recordType: try decodeText(), filters: try decodeEach { try $0.decodeFilter() },
      sortKeys: try decodeEach {
        SortKey(
          try $0.decodeFieldKey(), ascending: try $0.decodeFlag(),
          relativeLocation: try $0.decodeOptional { try $0.decodeLocation() })
      })
  }

  private mutating func decodeFilter() throws -> Filter {
    let key = try decodeFieldKey()
    let name = try decodeText()
    guard let comparator = Comparator(rawValue: name) else {
      throw damaged("has the unknown comparator '\(name)'")
    }
    return Filter(
      key, comparator, try decodeOptional { try $0.decodeValue() },
      distance: try decodeOptional { try $0.decodeDouble() },
      options: Filter.Options(rawValue: try decodeByte()))
  }

  private mutating func decodeFieldKey() throws -> FieldKey {
    switch try decodeByte() {
    case 1:
      return .field(try decodeText())
    case 2:
      let name = try decodeText()
      guard let field = SystemField(rawValue: name) else {
        throw damaged("has the unknown system field '\(name)'")
      }
      return .system(field)
    case 3:
      return .allText
    case let code:
      throw damaged("has the unknown key kind \(code)")
    }
  }

  private mutating func decodeNotificationInfo() throws -> NotificationInfo {
    var info = NotificationInfo()
    let texts: [WritableKeyPath<NotificationInfo, String?>] = [
      \.alertBody, \.alertLocalizationKey, \.title, \.titleLocalizationKey, \.subtitle,
      \.subtitleLocalizationKey, \.alertActionLocalizationKey, \.alertLaunchImage, \.soundName,
      \.category, \.collapseIDKey,
    ]
    for path in texts { info[keyPath: path] = try decodeOptionalText() }
    let lists: [WritableKeyPath<NotificationInfo, [String]?>] = [
      \.alertLocalizationArgs, \.titleLocalizationArgs, \.subtitleLocalizationArgs, \.desiredKeys,
    ]
    for path in lists {
      info[keyPath: path] = try decodeOptional { try $0.decodeEach { try $0.decodeText() } }
    }
    info.shouldBadge = try decodeFlag()
    info.shouldSendContentAvailable = try decodeFlag()
    info.shouldSendMutableContent = try decodeFlag()
    return info
  }
}
