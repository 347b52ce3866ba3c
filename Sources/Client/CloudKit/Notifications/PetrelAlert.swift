import StringTables

/// The texts of a notification as a user reads them. Petrel's own: Apple's systems show an app's alerts themselves.
public struct PetrelAlert: Sendable, Hashable {
  public var title: String?
  public var subtitle: String?
  public var body: String?
  /// The label of the button that opens the app.
  public var action: String?

  public init(
    title: String? = nil, subtitle: String? = nil, body: String? = nil, action: String? = nil
  ) {
    self.title = title
    self.subtitle = subtitle
    self.body = body
    self.action = action
  }
}

extension CKNotification {
  /// The texts to show for this notification; nil where it has none. Petrel's own.
  ///
  /// ```swift
  /// let strings = try PetrelStrings(contentsOf: URL(fileURLWithPath: "Strings"))
  /// for try await userInfo in container.remoteNotifications() {
  ///   let notification = CKNotification(fromRemoteNotificationDictionary: userInfo)
  ///   print(notification?.petrelAlert(from: strings).body ?? "Something changed")
  /// }
  /// ```
  ///
  /// Where the subscription names a string of the app (`alertLocalizationKey`), the text comes from `strings`, with the
  /// notification's arguments. A part whose key the strings do not have is the text that the notification carries for it, or nil.
  ///
  /// - Parameter strings: The app's strings, with the languages that the user wants.
  public func petrelAlert(from strings: PetrelStrings) -> PetrelAlert {
    contents.alert.localized(from: strings)
  }
}

extension CKNotification.Alert {
  fileprivate func localized(from strings: PetrelStrings) -> PetrelAlert {
    func text(_ text: String?, _ key: String?, _ arguments: [String]? = nil) -> String? {
      key.flatMap { strings.text(forKey: $0, arguments: arguments ?? []) } ?? text
    }
    return PetrelAlert(
      title: text(title, titleLocalizationKey, titleLocalizationArgs),
      subtitle: text(subtitle, subtitleLocalizationKey, subtitleLocalizationArgs),
      body: text(body, localizationKey, localizationArgs),
      action: text(nil, actionLocalizationKey))
  }
}
