internal import CloudKitModel

/// The archive of a notification info: each property is stored under its own name.
extension NotificationInfo {
  private static let strings: [(String, WritableKeyPath<NotificationInfo, String?> & Sendable)] = [
    ("alertBody", \.alertBody),
    ("alertLocalizationKey", \.alertLocalizationKey),
    ("title", \.title),
    ("titleLocalizationKey", \.titleLocalizationKey),
    ("subtitle", \.subtitle),
    ("subtitleLocalizationKey", \.subtitleLocalizationKey),
    ("alertActionLocalizationKey", \.alertActionLocalizationKey),
    ("alertLaunchImage", \.alertLaunchImage),
    ("soundName", \.soundName),
    ("category", \.category),
    ("collapseIDKey", \.collapseIDKey),
  ]

  private static let lists: [(String, WritableKeyPath<NotificationInfo, [String]?> & Sendable)] = [
    ("alertLocalizationArgs", \.alertLocalizationArgs),
    ("titleLocalizationArgs", \.titleLocalizationArgs),
    ("subtitleLocalizationArgs", \.subtitleLocalizationArgs),
    ("desiredKeys", \.desiredKeys),
  ]

  private static let flags: [(String, WritableKeyPath<NotificationInfo, Bool> & Sendable)] = [
    ("shouldBadge", \.shouldBadge),
    ("shouldSendContentAvailable", \.shouldSendContentAvailable),
    ("shouldSendMutableContent", \.shouldSendMutableContent),
  ]

  /// Makes an info from an archive. A property that is not in the archive is nil or false.
  init(coder: NSCoder) {
    self.init()
    for (key, path) in Self.strings {
      self[keyPath: path] = coder.decodeOptionalString(forKey: key)
    }
    for (key, path) in Self.lists { self[keyPath: path] = coder.decodeOptionalStrings(forKey: key) }
    for (key, path) in Self.flags { self[keyPath: path] = coder.decodeBool(forKey: key) }
  }

  func encode(with coder: NSCoder) {
    for (key, path) in Self.strings { coder.encodeOptional(self[keyPath: path], forKey: key) }
    for (key, path) in Self.lists { coder.encodeOptional(self[keyPath: path], forKey: key) }
    for (key, path) in Self.flags { coder.encode(self[keyPath: path], forKey: key) }
  }
}
