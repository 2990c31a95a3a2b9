-- Where RECONFIGURE would bring more into force than this value, as somebody else left it, the text ends in words that are not put back.
SELECT CAST(CASE c.is_enabled WHEN 1 THEN f.request_max_memory_grant_percent_numeric
                              ELSE g.request_max_memory_grant_percent_numeric END AS varchar(20))
       + CASE WHEN m.is_reconfiguration_pending = 1 OR (c.is_enabled = 0 AND c.classifier_function_id <> 0)
                   THEN ' while other changes wait for ALTER RESOURCE GOVERNOR RECONFIGURE'
              WHEN c.is_enabled = 0 THEN ',DISABLED'
              ELSE ',ENABLED' END
  FROM sys.resource_governor_configuration c
 CROSS JOIN sys.dm_resource_governor_configuration m
 CROSS JOIN sys.resource_governor_workload_groups g
  JOIN sys.dm_resource_governor_workload_groups f ON f.group_id = g.group_id
 WHERE g.name = 'default'
