extension Schema {
  /// What a reader of the web courier was given last and has not acknowledged yet, where its polls may
  /// go to several servers: the entry's sequence, and whether it counts for the badge. It stands beside
  /// the reader's cursor, and goes with it.
  static let courierAnswers = [
    "ALTER TABLE courier_cursors ADD COLUMN answered BIGINT",
    "ALTER TABLE courier_cursors ADD COLUMN answered_badge BIGINT",
  ]
}
