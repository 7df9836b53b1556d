package check

import (
	"strings"
	"time"

	"github.com/skitterhq/skitter/shared/topology"
)

// tables: each is there with its key and its indexes, and is paid for by use.
func tables(v *view) {
	for _, t := range v.Tables {
		r := v.table(t.Name)
		v.want(r, "KeySchema", schema(t.Partition, t.Sort))
		v.want(r, "BillingMode", "PAY_PER_REQUEST")
		types := map[string]any{}
		for _, d := range list(r.get("AttributeDefinitions")) {
			name, _ := get(d, "AttributeName").(string)
			types[name] = get(d, "AttributeType")
		}
		keys := []topology.Key{t.Partition, t.Sort}
		indexes := list(r.get("GlobalSecondaryIndexes"))
		if len(indexes) != len(t.Indexes) {
			v.bad("%s has %d indexes, not %d", r.id, len(indexes), len(t.Indexes))
			continue
		}
		for i, index := range t.Indexes {
			is := resource{id: r.id + " index " + index.Name, props: indexes[i].(map[string]any)}
			v.want(is, "IndexName", index.Name)
			v.want(is, "KeySchema", schema(index.Partition, index.Sort))
			v.want(is, "Projection.ProjectionType", "ALL")
			keys = append(keys, index.Partition, index.Sort)
		}
		for _, key := range keys {
			if key.Name != "" && types[key.Name] != string(key.Type) {
				v.bad("%s: key %s is of type %v, not %s", r.id, key.Name, types[key.Name], key.Type)
			}
		}
	}
}

func schema(partition, sort topology.Key) []any {
	keys := []any{map[string]any{"AttributeName": partition.Name, "KeyType": "HASH"}}
	if sort.Name != "" {
		keys = append(keys, map[string]any{"AttributeName": sort.Name, "KeyType": "RANGE"})
	}
	return keys
}

// ttl: rows go when their time is over.
func ttl(v *view) {
	for _, t := range v.Tables {
		v.want(v.table(t.Name), "TimeToLiveSpecification", map[string]any{"AttributeName": topology.TTL, "Enabled": true})
	}
}

// recovery: what cannot be made again has its past kept.
func recovery(v *view) {
	for _, t := range v.Tables {
		if t.Recovery {
			v.want(v.table(t.Name), "PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled", true)
		}
	}
}

// bucket: it is closed to the public, encrypted, and not spoken to in the clear.
func bucket(v *view) {
	r := v.theBucket()
	for _, block := range []string{"BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"} {
		v.want(r, "PublicAccessBlockConfiguration."+block, true)
	}
	if !strings.Contains(text(r.get("BucketEncryption")), "SSEAlgorithm") {
		v.bad("%s is not encrypted", r.id)
	}
	if !v.refusesClear("S3::BucketPolicy", "Bucket", r.id, "s3:*") {
		v.bad("%s takes calls without TLS", r.id)
	}
}

// lifecycle: objects go when their time is over, those of no other prefix do,
// and what was never wholly uploaded goes.
func lifecycle(v *view) {
	r := v.theBucket()
	days, aborts := map[string]int{}, false
	for _, rule := range list(r.get("LifecycleConfiguration.Rules")) {
		is := resource{props: rule.(map[string]any)}
		if is.get("Status") != "Enabled" {
			continue
		}
		prefix, _ := is.get("Prefix").(string)
		if n := is.number("ExpirationInDays"); n > 0 {
			days[prefix] = n
		}
		if prefix == "" && is.number("AbortIncompleteMultipartUpload.DaysAfterInitiation") > 0 {
			aborts = true
		}
	}
	for _, p := range v.Prefixes {
		const day = 24 * time.Hour
		if want := int((p.Expires + day - 1) / day); days[p.Name] != want {
			v.bad("%s: objects under %s go after %d days, not %d", r.id, p.Name, days[p.Name], want)
		}
	}
	if days[""] > 0 {
		v.bad("%s: all objects go after %d days", r.id, days[""])
	}
	if !aborts {
		v.bad("%s keeps uploads that were never completed", r.id)
	}
}
