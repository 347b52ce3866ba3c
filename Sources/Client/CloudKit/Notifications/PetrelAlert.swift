import StringTables

/// The texts of a notification as a user reads them. This type is an addition of Petrel; Apple's systems show an app's
/// alerts themselves.
public struct PetrelAlert: Sendable, Hashable {
  /// The title; `nil` when the notification has none.
  public var title: String?
  /// The subtitle; `nil` when the notification has none.
  public var subtitle: String?
  /// The main text; `nil` when the notification has none.
  public var body: String?
  /// The label of the button that opens the app; `nil` when the notification has none.
  public var action: String?

  /// Creates an alert from its texts.
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
  /// Returns the texts to show for this notification. A text that the notification does not have is `nil`.
  ///
  /// This method is an addition of Petrel.
  ///
  /// ```swift
  /// let strings = try PetrelStrings(contentsOf: URL(fileURLWithPath: "Strings"))
  /// for try await userInfo in container.remoteNotifications() {
  ///   let notification = CKNotification(fromRemoteNotificationDictionary: userInfo)
  ///   print(notification?.petrelAlert(from: strings).body ?? "Something changed")
  /// }
  /// ```
  ///
  /// If the notification has a key for a text, such as `alertLocalizationKey`, the text comes from `strings` and
  /// contains the notification's arguments. If `strings` does not have the key, the result is the plain text that the
  /// notification has for this part, or `nil`.
  ///
  /// - Parameter strings: the app's strings, with the languages that the user wants.
  public func petrelAlert(from strings: PetrelStrings) -> PetrelAlert {
    contents.alert.localized(from: strings)
  }
}

extension CKNotification.Alert {
  /// Returns each text from the app's strings. If the strings do not have the key, returns the notification's plain
  /// text.
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
