// The settings of the object store for attachments.

extension SettingGroup {
    static let objectStore = SettingGroup(
        "Object store for attachments",
        [
            Setting(
                "s3_endpoint", \.s3Endpoint, .optional(.webURL), "URL",
                "S3-compatible store that ready attachments move to: https://host or https://host:port; unset: they "
                    + "stay in PostgreSQL",
                commands: .withObjectStore),
            Setting(
                "s3_bucket", \.s3Bucket, .optional(.bucket), "NAME",
                "existing private bucket for attachments; required with the endpoint", commands: .withObjectStore),
            Setting(
                "s3_region", \.s3Region, .token("a name"), "NAME",
                "region of the bucket, as the store expects it in signatures", commands: .withObjectStore),
            Setting(
                "s3_access_key", \.s3AccessKey, .optional(.token("an id")), "ID",
                "id of the key that may read, write and delete objects in the bucket; required with the endpoint",
                commands: .withObjectStore),
            Setting(
                "s3_secret_key", \.s3SecretKey, .optional(.token("a secret")), "SECRET",
                "secret of that key; required with the endpoint", exposure: .secret, commands: .withObjectStore),
            Setting(
                "s3_path_style", \.s3UsesPathStyle, .trueOrFalse, "true|false",
                "true: https://host/bucket/key; false: https://bucket.host/key", commands: .withObjectStore),
            Setting(
                "s3_serve", \.s3Serving, .word, "proxy|redirect",
                "proxy: clients download through the node; redirect: they get a 307 to a signed URL of the store, "
                    + "valid for 5 minutes"),
        ])
}
