internal import CloudKitModel

extension CKContainer {
  /// Returns the entries that are new in the user's notification log since a token, oldest first.
  ///
  /// The server writes each notification of a user to this log. When a device marks a notification as read, the log
  /// gets another entry.
  ///
  /// This method is an addition of Petrel. It sends requests until it has `limit` entries or the whole log.
  ///
  /// ```swift
  /// let container = CKContainer.default()
  /// let news = try await container.petrelNotifications(since: savedToken)
  /// if news.isRestart { reloadFromTheDatabases() }
  /// handle(news.notifications)
  /// savedToken = news.token
  /// try await container.petrelMarkRead(news.notifications)
  /// ```
  ///
  /// By default the server keeps at most 10,000 notifications of a user, with 64 MiB of contents together. To use less
  /// memory, read ``petrelNotificationPages(since:)``.
  ///
  /// If the token has expired, the method reads the log from its beginning, and ``PetrelNotificationPage/isRestart`` is
  /// true. The token can also expire between two requests of this method. The method then returns the notifications
  /// read so far, with ``PetrelNotificationPage/moreComing`` set. The next call with the returned token reads from the
  /// beginning of the log.
  ///
  /// - Parameters:
  ///   - token: the token of the last call; `nil` means the beginning of the log.
  ///   - limit: the largest number of notifications, at least 1. If the log has more,
  ///     ``PetrelNotificationPage/moreComing`` is true: call again with the new token.
  /// - Throws: `invalidArguments` for a limit below 1 and for a token of another kind. `notAuthenticated` when no user
  ///   is signed in. `networkFailure` and similar errors when the server cannot be reached. After an error, another
  ///   call with the same token reads the same notifications.
  public func petrelNotifications(
    since token: CKServerChangeToken?, limit: Int = 10_000
  ) async throws -> PetrelNotificationPage {
    guard limit > 0 else {
      throw CKError(.invalidArguments, "limit \(limit) must be at least 1")
    }
    var pages = petrelNotificationPages(since: token).makeAsyncIterator()
    var whole: PetrelNotificationPage?
    repeat {
      let count = whole?.notifications.count ?? 0
      pages.limit = min(limit - count, ServiceLimits.recordsPerPage)
      guard let page = try await pages.next(isolation: nil) else { break }
      // After a restart, the page repeats notifications that were read before, so it is not appended.
      if page.isRestart, let whole { return whole }
      whole = whole?.followed(by: page) ?? page
    } while (whole?.notifications.count ?? 0) < limit
    guard let whole else {
      throw CKError(.internalError, "the server's answer has no page of the notification log")
    }
    return whole
  }

  /// Returns the entries that are new in the user's notification log since a token, as a sequence of pages.
  ///
  /// This method is an addition of Petrel. It sends no request: the loop over the sequence does.
  ///
  /// - Parameter token: the token of the last page; `nil` means the beginning of the log.
  public func petrelNotificationPages(
    since token: CKServerChangeToken?
  ) -> PetrelNotificationPages {
    PetrelNotificationPages(container: self, token: token)
  }

  /// Fetches one page of the notification log.
  ///
  /// - Parameter limit: the largest number of notifications; 0 lets the server choose.
  func notificationPage(
    since token: CKServerChangeToken?, limit: Int
  ) async throws -> PetrelNotificationPage {
    try await CKOperation.result { completion in
      let operation = ReadNotificationsOperation()
      operation.token = token
      operation.limit = limit
      operation.completion = completion
      return self.run(operation)
    }
  }

  /// Marks notifications as read for all devices of the user. Call this method after the app has handled them.
  ///
  /// This method is an addition of Petrel. It skips notifications that are marked already, and those that the server
  /// has deleted in the meantime. The next read of the log has a `readNotification` for each mark, on this device too.
  ///
  /// - Parameter notifications: any number of notifications. The client sends at most 400 in a request. After an error,
  ///   some of them may be marked; another call with the same list marks the others.
  /// - Throws: the error of the first request that failed.
  public func petrelMarkRead(_ notifications: [CKNotification]) async throws {
    var marked: Set<CKNotification.ID> = []
    let ids = notifications.filter { $0.notificationType != .readNotification }
      .compactMap(\.notificationID).filter { marked.insert($0).inserted }
    for start in stride(from: 0, to: ids.count, by: ServiceLimits.operationsPerRequest) {
      let part = Array(ids[start..<min(start + ServiceLimits.operationsPerRequest, ids.count)])
      try await CKOperation.result { (completion: @escaping (Result<Void, any Error>) -> Void) in
        let operation = MarkNotificationsOperation()
        operation.notificationIDs = part
        operation.completion = completion
        return self.run(operation)
      }
    }
  }
}

extension PetrelNotificationPage {
  fileprivate func followed(by page: PetrelNotificationPage) -> PetrelNotificationPage {
    PetrelNotificationPage(
      notifications: notifications + page.notifications, token: page.token,
      moreComing: page.moreComing, isRestart: isRestart)
  }
}
